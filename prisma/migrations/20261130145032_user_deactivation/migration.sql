-- AlterTable
ALTER TABLE "user_account" ADD COLUMN     "deactivated_at" TIMESTAMPTZ(3);
