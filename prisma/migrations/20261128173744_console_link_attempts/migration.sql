-- AlterTable
ALTER TABLE "console_link" ADD COLUMN     "attempt_hash" TEXT,
ADD COLUMN     "used_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "console_session" ADD COLUMN     "console_link_id" TEXT;

-- CreateIndex
CREATE INDEX "console_session_console_link_id_idx" ON "console_session"("console_link_id");
