-- DropIndex
DROP INDEX "audit_entry_xid_id_idx";

-- DropIndex
DROP INDEX "user_account_enterprise_id_email_key";

-- AlterTable
ALTER TABLE "enterprise" ADD COLUMN     "ip_ranges" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- AlterTable
ALTER TABLE "installation" ADD COLUMN     "key_epoch" INTEGER NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "role" ADD COLUMN     "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT '1970-01-01 00:00:00+00'::timestamp with time zone;

-- AlterTable
ALTER TABLE "user_account" ADD COLUMN     "deleted_at" TIMESTAMPTZ(3);

-- CreateTable
CREATE UNLOGGED TABLE "rate_limit" (
    "key" VARCHAR(255) NOT NULL,
    "points" INTEGER NOT NULL DEFAULT 0,
    "expire" BIGINT,

    CONSTRAINT "rate_limit_pkey" PRIMARY KEY ("key")
);

-- CreateIndex
CREATE INDEX "rate_limit_expire_idx" ON "rate_limit"("expire");

-- CreateIndex
CREATE INDEX "api_key_user_id_created_at_id_idx" ON "api_key"("user_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "api_key_service_user_id_created_at_id_idx" ON "api_key"("service_user_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "audit_entry_enterprise_id_action_created_at_id_idx" ON "audit_entry"("enterprise_id", "action", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "audit_entry_enterprise_id_xid_id_idx" ON "audit_entry"("enterprise_id", "xid", "id");

-- CreateIndex
CREATE INDEX "role_enterprise_id_created_at_id_idx" ON "role"("enterprise_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "service_user_enterprise_id_created_at_id_idx" ON "service_user"("enterprise_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "user_account_enterprise_id_created_at_id_idx" ON "user_account"("enterprise_id", "created_at", "id");

-- By hand: what the schema file cannot say.

-- One address is one user, however it is written; it is free again when that user is deleted.
DROP INDEX "user_account_address";
CREATE UNIQUE INDEX "user_account_address" ON "user_account"("enterprise_id", lower("email")) WHERE "deleted_at" IS NULL;

-- One role in each place. The empty text stands for the enterprise, which is no organization.
CREATE UNIQUE INDEX "role_assignment_of_user" ON "role_assignment"("user_id", coalesce("organization_id", ''))
  WHERE "user_id" IS NOT NULL;
CREATE UNIQUE INDEX "role_assignment_of_service_user" ON "role_assignment"("service_user_id", coalesce("organization_id", ''))
  WHERE "service_user_id" IS NOT NULL;

CREATE UNIQUE INDEX "role_name" ON "role"("enterprise_id", "scope", lower("name")) WHERE "enterprise_id" IS NOT NULL;

-- Only live keys are looked through when all of them are revoked.
CREATE INDEX "api_key_live" ON "api_key"("enterprise_id") WHERE "revoked_at" IS NULL;
