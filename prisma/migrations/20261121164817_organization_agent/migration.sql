-- AlterTable
ALTER TABLE "organization" ADD COLUMN     "default_agent" TEXT;
