-- AlterTable
ALTER TABLE "automation" ADD COLUMN     "forge_events_since_at" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "forge_event" (
    "id" TEXT NOT NULL,
    "git_connection_id" TEXT NOT NULL,
    "event_type" TEXT NOT NULL,
    "repository_path" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "sender_id" TEXT,
    "sender_login" TEXT,
    "payload" JSONB NOT NULL,
    "last_automation_id" TEXT NOT NULL DEFAULT '',
    "attempt_count" INTEGER NOT NULL DEFAULT 0,
    "error" TEXT,
    "next_attempt_at" TIMESTAMPTZ(3),
    "received_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "forge_event_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "forge_event_git_connection_id_idx" ON "forge_event"("git_connection_id");

-- CreateIndex
CREATE INDEX "forge_event_next_attempt_at_idx" ON "forge_event"("next_attempt_at");

-- CreateIndex
CREATE INDEX "forge_event_received_at_idx" ON "forge_event"("received_at");

-- CreateIndex
CREATE INDEX "automation_organization_id_forge_events_since_at_idx" ON "automation"("organization_id", "forge_events_since_at");

-- Automations whose triggers never fired act on events from now on.
UPDATE "automation" SET "forge_events_since_at" = now()
 WHERE "deleted_at" IS NULL AND "is_enabled"
   AND EXISTS (SELECT 1 FROM jsonb_array_elements("triggers") AS t
                WHERE t ->> 'eventType' IN ('github:issue_comment', 'github:issues', 'github:pull_request',
                  'github:pull_request_review', 'github:pull_request_review_comment', 'github:check_run', 'github:push',
                  'gitlab:merge_request', 'gitlab:note', 'gitlab:issue', 'gitlab:issue_note', 'gitlab:push', 'gitlab:pipeline'));
