-- AlterTable
ALTER TABLE "run" ADD COLUMN     "quota_since" TIMESTAMPTZ(3),
ADD COLUMN     "quota_waits" INTEGER NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "session" ADD COLUMN     "waits_until" TIMESTAMPTZ(3);
