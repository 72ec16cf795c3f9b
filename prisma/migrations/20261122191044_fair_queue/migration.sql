-- AlterTable
ALTER TABLE "organization" ADD COLUMN     "max_concurrent_sessions" INTEGER;

-- AlterTable
ALTER TABLE "run" ADD COLUMN     "organization_id" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "principal_id" TEXT NOT NULL DEFAULT '';

UPDATE "run" r SET "organization_id" = s."organization_id", "principal_id" = coalesce(s."user_id", s."service_user_id", '')
  FROM "session" s WHERE s."id" = r."session_id";

-- The queue, by organization, user and the worker that has the workspace: a claim steps from one to the next, however many
-- sessions each of them has in the queue.
DROP INDEX "run_queue";
CREATE INDEX "run_queue" ON "run"("organization_id", "principal_id", (coalesce("home_worker_id", '')), "queued_at")
  WHERE "queued_at" IS NOT NULL;
DO $$ BEGIN IF EXISTS (SELECT FROM "run") THEN ANALYZE "run"; END IF; END $$;
