-- AlterTable
ALTER TABLE "followed_pull_request" ADD COLUMN     "comments_since" TIMESTAMPTZ(3),
ADD COLUMN     "is_failing" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "pull_request" ADD COLUMN     "checks_passed_at" TIMESTAMPTZ(3),
ADD COLUMN     "follow_up_mode" TEXT,
ADD COLUMN     "follow_up_resumed_at" TIMESTAMPTZ(3),
ADD COLUMN     "follow_up_stop" TEXT,
ADD COLUMN     "follow_ups_since" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "follow_up" (
    "id" TEXT NOT NULL,
    "session_id" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "summary" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "comment_ids" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "chain" INTEGER,
    "due_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "settled_at" TIMESTAMPTZ(3),

    CONSTRAINT "follow_up_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "follow_up_session_id_url_created_at_idx" ON "follow_up"("session_id", "url", "created_at");

-- CreateIndex
CREATE UNIQUE INDEX "follow_up_session_id_url_key_key" ON "follow_up"("session_id", "url", "key");

-- By hand: what the schema file cannot say.
CREATE INDEX "follow_up_due" ON "follow_up"("due_at") WHERE "state" = 'pending';
