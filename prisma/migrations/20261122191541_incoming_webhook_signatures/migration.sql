-- AlterTable
ALTER TABLE "automation" ADD COLUMN     "webhook_secret_sealed" TEXT;
