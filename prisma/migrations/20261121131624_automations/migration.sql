-- AlterTable
ALTER TABLE "automation" ADD COLUMN     "consecutive_failures" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "deleted_at" TIMESTAMPTZ(3),
ADD COLUMN     "last_error_at" TIMESTAMPTZ(3),
ADD COLUMN     "last_error_message" TEXT,
ADD COLUMN     "last_run_at" TIMESTAMPTZ(3),
ADD COLUMN     "next_run_at" TIMESTAMPTZ(3),
ADD COLUMN     "run_as_user_id" TEXT,
ADD COLUMN     "schedule" JSONB,
ADD COLUMN     "updated_by_service_user_id" TEXT,
ADD COLUMN     "updated_by_user_id" TEXT,
ADD COLUMN     "webhook_secret_hash" TEXT;

-- AlterTable
ALTER TABLE "organization" ADD COLUMN     "has_automations" BOOLEAN NOT NULL DEFAULT true;

-- DropTable
DROP TABLE "schedule";

-- CreateIndex
CREATE INDEX "automation_next_run_at_idx" ON "automation"("next_run_at");
