-- AlterTable
ALTER TABLE "git_connection" ADD COLUMN     "has_webhook_secret" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "followed_pull_request" (
    "id" TEXT NOT NULL,
    "git_connection_id" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "path_key" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "head_branch" TEXT,
    "head_commit" TEXT,
    "base_branch" TEXT,
    "validator" TEXT,
    "is_over" BOOLEAN NOT NULL DEFAULT false,
    "due_at" TIMESTAMPTZ(3),
    "wanted_at" TIMESTAMPTZ(3),
    "webhook_at" TIMESTAMPTZ(3),
    "claimed_until_at" TIMESTAMPTZ(3),
    "read_at" TIMESTAMPTZ(3),
    "failure_count" INTEGER NOT NULL DEFAULT 0,
    "error" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "followed_pull_request_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "git_connection_pause" (
    "git_connection_id" TEXT NOT NULL,
    "paused_at" TIMESTAMPTZ(3) NOT NULL,
    "paused_until_at" TIMESTAMPTZ(3) NOT NULL,
    "failure_count" INTEGER NOT NULL,
    "error" TEXT NOT NULL,

    CONSTRAINT "git_connection_pause_pkey" PRIMARY KEY ("git_connection_id")
);

-- CreateTable
CREATE TABLE "following_session" (
    "followed_pull_request_id" TEXT NOT NULL,
    "session_id" TEXT NOT NULL,
    "repository_id" TEXT NOT NULL,
    "url" TEXT NOT NULL,

    CONSTRAINT "following_session_pkey" PRIMARY KEY ("followed_pull_request_id","session_id")
);

-- CreateIndex
CREATE INDEX "following_session_session_id_idx" ON "following_session"("session_id");

-- CreateIndex
CREATE INDEX "followed_pull_request_git_connection_id_read_at_idx" ON "followed_pull_request"("git_connection_id", "read_at");

-- CreateIndex
CREATE UNIQUE INDEX "followed_pull_request_git_connection_id_path_key_number_key" ON "followed_pull_request"("git_connection_id", "path_key", "number");

-- By hand: what the schema file cannot say. Most pull requests are over.
CREATE INDEX "followed_pull_request_due" ON "followed_pull_request" ("git_connection_id", "due_at") WHERE "due_at" IS NOT NULL;
