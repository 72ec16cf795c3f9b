-- AlterTable
ALTER TABLE "installation" ADD COLUMN     "database_identity" TEXT,
ADD COLUMN     "maintenance_since" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "run" ADD COLUMN     "workspace_deleted_at" TIMESTAMPTZ(3),
ADD COLUMN     "workspace_deletion_requested_at" TIMESTAMPTZ(3);

-- What Prisma cannot say: requests for deletion are few among many rows.
CREATE INDEX "run_workspace_deletion_requested" ON "run"("home_worker_id") WHERE "workspace_deletion_requested_at" IS NOT NULL;
