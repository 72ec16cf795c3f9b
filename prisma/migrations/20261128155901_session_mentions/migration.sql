-- AlterTable
ALTER TABLE "mention" ADD COLUMN     "is_start" BOOLEAN NOT NULL DEFAULT false;

-- CreateIndex
CREATE INDEX "mention_session_id_idx" ON "mention"("session_id");
