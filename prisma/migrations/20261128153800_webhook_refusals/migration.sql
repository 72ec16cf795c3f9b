-- AlterTable
ALTER TABLE "git_connection" ADD COLUMN "last_webhook_refusal" JSONB;
