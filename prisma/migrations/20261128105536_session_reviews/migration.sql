-- CreateTable
CREATE TABLE "session_review" (
    "session_id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "repository_id" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "url" TEXT NOT NULL,
    "head_commit" TEXT NOT NULL,
    "pull_request" JSONB NOT NULL,
    "request" JSONB,
    "claimed_until_at" TIMESTAMPTZ(3),
    "attempt_count" INTEGER NOT NULL DEFAULT 0,
    "review_url" TEXT,
    "submitted_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "session_review_pkey" PRIMARY KEY ("session_id")
);

-- CreateIndex
CREATE INDEX "session_review_organization_id_repository_id_number_created_idx" ON "session_review"("organization_id", "repository_id", "number", "created_at");

-- CreateIndex
CREATE INDEX "session_review_claimed_until_at_idx" ON "session_review"("claimed_until_at");
