-- AlterTable
ALTER TABLE "organization" ADD COLUMN     "default_models" JSONB NOT NULL DEFAULT '{}';

-- CreateTable
CREATE TABLE "provider_key" (
    "id" TEXT NOT NULL,
    "enterprise_id" TEXT NOT NULL,
    "organization_id" TEXT,
    "owner_user_id" TEXT,
    "provider" TEXT NOT NULL,
    "base_url" TEXT,
    "name" TEXT NOT NULL,
    "sealed" TEXT,
    "monthly_budget_usd" DOUBLE PRECISION,
    "input_usd_per_million" DOUBLE PRECISION,
    "cached_usd_per_million" DOUBLE PRECISION,
    "output_usd_per_million" DOUBLE PRECISION,
    "is_enabled" BOOLEAN NOT NULL DEFAULT true,
    "last_used_at" TIMESTAMPTZ(3),
    "last_failure" JSONB,
    "user_id" TEXT,
    "service_user_id" TEXT,
    "service_key_id" TEXT,
    "updated_by_user_id" TEXT,
    "updated_by_service_user_id" TEXT,
    "updated_by_service_key_id" TEXT,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "provider_key_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "provider_key_usage" (
    "provider_key_id" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "organization_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "calls" BIGINT NOT NULL DEFAULT 0,
    "input_tokens" BIGINT NOT NULL DEFAULT 0,
    "cached_tokens" BIGINT NOT NULL DEFAULT 0,
    "output_tokens" BIGINT NOT NULL DEFAULT 0,
    "cost_usd" DOUBLE PRECISION NOT NULL DEFAULT 0,

    CONSTRAINT "provider_key_usage_pkey" PRIMARY KEY ("provider_key_id","day","organization_id","user_id")
);

-- CreateIndex
CREATE INDEX "provider_key_enterprise_id_created_at_id_idx" ON "provider_key"("enterprise_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "provider_key_organization_id_created_at_id_idx" ON "provider_key"("organization_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "provider_key_owner_user_id_created_at_id_idx" ON "provider_key"("owner_user_id", "created_at", "id");

-- AddForeignKey
ALTER TABLE "provider_key" ADD CONSTRAINT "provider_key_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;


-- By hand: what the schema file cannot say.
CREATE UNIQUE INDEX "provider_key_name" ON "provider_key"("enterprise_id", coalesce("organization_id", ''), coalesce("owner_user_id", ''), lower("name"))
  WHERE "deleted_at" IS NULL;

ALTER TABLE "provider_key" ADD CONSTRAINT "provider_key_scope" CHECK ("organization_id" IS NULL OR "owner_user_id" IS NULL);
ALTER TABLE "provider_key" ADD CONSTRAINT "provider_key_erased" CHECK ("deleted_at" IS NULL OR "sealed" IS NULL);
