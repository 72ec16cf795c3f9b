-- AlterTable
ALTER TABLE "worker" ADD COLUMN     "drain_requested_at" TIMESTAMPTZ(3),
ADD COLUMN     "enterprise_id" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "host" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "seen_at" TIMESTAMPTZ(3);
