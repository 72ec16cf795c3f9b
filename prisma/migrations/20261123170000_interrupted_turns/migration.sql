-- AlterTable
ALTER TABLE "run" ADD COLUMN     "command_data" JSONB;
