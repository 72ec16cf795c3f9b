-- AlterTable
ALTER TABLE "user_account" ADD COLUMN     "external_id" TEXT,
ADD COLUMN     "family_name" TEXT,
ADD COLUMN     "given_name" TEXT;

-- CreateIndex
CREATE INDEX "user_account_enterprise_id_external_id_idx" ON "user_account"("enterprise_id", "external_id");
