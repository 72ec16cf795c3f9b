-- AlterTable
ALTER TABLE "run" ADD COLUMN     "inbox_version" INTEGER NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "message_change" (
    "session_id" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "body" TEXT,
    "is_withdrawn" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "message_change_pkey" PRIMARY KEY ("session_id","seq")
);
