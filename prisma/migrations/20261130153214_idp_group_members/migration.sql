-- AlterTable
ALTER TABLE "idp_group" ADD COLUMN     "external_id" TEXT;

-- CreateTable
CREATE TABLE "idp_group_member" (
    "group_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "enterprise_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idp_group_member_pkey" PRIMARY KEY ("group_id","user_id")
);

-- CreateIndex
CREATE INDEX "idp_group_member_user_id_idx" ON "idp_group_member"("user_id");
