-- AlterTable
ALTER TABLE "session_repository" ADD COLUMN     "pending_pushes" JSONB NOT NULL DEFAULT '{}';
