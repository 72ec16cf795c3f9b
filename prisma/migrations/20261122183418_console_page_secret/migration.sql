-- Sessions from before have no page secret: these browsers sign in again.
DELETE FROM "console_session";

-- AlterTable
ALTER TABLE "console_session" ADD COLUMN     "confirmed_at" TIMESTAMPTZ(3),
ADD COLUMN     "page_secret_hash" TEXT NOT NULL;

-- CreateIndex
CREATE UNIQUE INDEX "console_session_page_secret_hash_key" ON "console_session"("page_secret_hash");
