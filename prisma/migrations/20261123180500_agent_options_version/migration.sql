-- AlterTable
ALTER TABLE "session" ADD COLUMN     "agent_options_version" INTEGER NOT NULL DEFAULT 0;
