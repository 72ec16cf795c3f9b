-- AlterTable
ALTER TABLE "session" ADD COLUMN     "pull_requests_version" INTEGER NOT NULL DEFAULT 0;
