-- CreateTable
CREATE TABLE "pull_request" (
    "session_id" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "repository_id" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "title" TEXT NOT NULL,
    "is_draft" BOOLEAN NOT NULL,
    "head_branch" TEXT NOT NULL,
    "head_commit" TEXT,
    "base_branch" TEXT NOT NULL,
    "mergeability" TEXT NOT NULL DEFAULT 'unknown',
    "checks" JSONB NOT NULL DEFAULT '[]',
    "reviews" JSONB NOT NULL DEFAULT '[]',
    "is_truncated" BOOLEAN NOT NULL DEFAULT false,
    "is_opened_by_service" BOOLEAN NOT NULL DEFAULT false,
    "opened_at" TIMESTAMPTZ(3),
    "merged_at" TIMESTAMPTZ(3),
    "closed_at" TIMESTAMPTZ(3),
    "read_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "pull_request_pkey" PRIMARY KEY ("session_id","url")
);

-- CreateTable
CREATE TABLE "pull_request_intent" (
    "id" TEXT NOT NULL,
    "session_id" TEXT NOT NULL,
    "repository_id" TEXT NOT NULL,
    "head_branch" TEXT NOT NULL,
    "base_branch" TEXT NOT NULL,
    "request" JSONB NOT NULL,
    "claimed_until_at" TIMESTAMPTZ(3) NOT NULL,
    "attempt_count" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "pull_request_intent_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "pull_request_intent_claimed_until_at_idx" ON "pull_request_intent"("claimed_until_at");

-- CreateIndex
CREATE UNIQUE INDEX "pull_request_intent_session_id_repository_id_head_branch_ba_key" ON "pull_request_intent"("session_id", "repository_id", "head_branch", "base_branch");
