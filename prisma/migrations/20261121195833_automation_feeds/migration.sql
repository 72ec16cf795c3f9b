-- AlterTable
ALTER TABLE "automation" ADD COLUMN     "session_events_since_at" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "automation_feed" (
    "organization_id" TEXT NOT NULL,
    "changed_xid" xid8 NOT NULL,
    "session_id" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "automation_feed_pkey" PRIMARY KEY ("organization_id")
);

-- CreateTable
CREATE TABLE "automation_progress" (
    "session_id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,

    CONSTRAINT "automation_progress_pkey" PRIMARY KEY ("session_id")
);

-- CreateIndex
CREATE INDEX "automation_progress_organization_id_idx" ON "automation_progress"("organization_id");

-- CreateIndex
CREATE INDEX "automation_organization_id_session_events_since_at_idx" ON "automation"("organization_id", "session_events_since_at");

-- What follows sessions already does so from now on.
UPDATE "automation" SET "session_events_since_at" = now()
 WHERE "deleted_at" IS NULL
   AND EXISTS (SELECT 1 FROM jsonb_array_elements("triggers") AS t WHERE starts_with(t ->> 'eventType', 'session:'));
INSERT INTO "automation_feed" ("organization_id", "changed_xid")
SELECT DISTINCT "organization_id", pg_snapshot_xmin(pg_current_snapshot()) FROM "automation"
 WHERE "session_events_since_at" IS NOT NULL;
