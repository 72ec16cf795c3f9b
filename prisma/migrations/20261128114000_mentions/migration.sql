-- CreateTable
CREATE TABLE "mention" (
    "id" TEXT NOT NULL,
    "enterprise_id" TEXT NOT NULL,
    "git_connection_id" TEXT NOT NULL,
    "host" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "path_key" TEXT NOT NULL,
    "source_key" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "is_pull_request" BOOLEAN NOT NULL,
    "thread_id" TEXT,
    "author_id" TEXT,
    "author_login" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "title" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "url" TEXT,
    "status" TEXT NOT NULL,
    "organization_id" TEXT,
    "session_id" TEXT,
    "answer" TEXT,
    "answer_started_at" TIMESTAMPTZ(3),
    "attempt_count" INTEGER NOT NULL DEFAULT 0,
    "error" TEXT,
    "next_attempt_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "mention_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "mention_git_connection_id_idx" ON "mention"("git_connection_id");

-- CreateIndex
CREATE INDEX "mention_next_attempt_at_idx" ON "mention"("next_attempt_at");

-- CreateIndex
CREATE INDEX "mention_created_at_idx" ON "mention"("created_at");

-- CreateIndex
CREATE UNIQUE INDEX "mention_enterprise_id_host_path_key_source_key_key" ON "mention"("enterprise_id", "host", "path_key", "source_key");
