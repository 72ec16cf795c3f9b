-- AlterTable
ALTER TABLE "organization" ADD COLUMN     "allowed_tags" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "default_tag" TEXT;

-- CreateTable
CREATE TABLE "secret" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "sealed" TEXT NOT NULL,
    "note" TEXT,
    "is_sensitive" BOOLEAN NOT NULL,
    "user_id" TEXT,
    "service_user_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "secret_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "knowledge_folder" (
    "id" TEXT NOT NULL,
    "enterprise_id" TEXT NOT NULL,
    "organization_id" TEXT,
    "parent_id" TEXT,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "knowledge_folder_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "knowledge_note" (
    "id" TEXT NOT NULL,
    "enterprise_id" TEXT NOT NULL,
    "organization_id" TEXT,
    "folder_id" TEXT,
    "name" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "trigger" TEXT NOT NULL,
    "pinned_repo" TEXT,
    "macro" TEXT,
    "is_enabled" BOOLEAN NOT NULL DEFAULT true,
    "user_id" TEXT,
    "service_user_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "knowledge_note_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "playbook" (
    "id" TEXT NOT NULL,
    "enterprise_id" TEXT NOT NULL,
    "organization_id" TEXT,
    "title" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "macro" TEXT,
    "structured_output_schema" JSONB,
    "user_id" TEXT,
    "service_user_id" TEXT,
    "updated_by_user_id" TEXT,
    "updated_by_service_user_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "playbook_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "usage" (
    "id" TEXT NOT NULL,
    "enterprise_id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "session_id" TEXT NOT NULL,
    "user_id" TEXT,
    "service_user_id" TEXT,
    "acus" DOUBLE PRECISION NOT NULL,
    "used_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "usage_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "legacy_call" (
    "api_key_id" TEXT NOT NULL,
    "enterprise_id" TEXT NOT NULL,
    "version" TEXT NOT NULL,
    "route" TEXT NOT NULL,
    "count" INTEGER NOT NULL,
    "last_called_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "legacy_call_pkey" PRIMARY KEY ("api_key_id","version","route")
);

-- CreateTable
CREATE TABLE "automation" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "is_enabled" BOOLEAN NOT NULL,
    "run_as" TEXT NOT NULL,
    "triggers" JSONB NOT NULL,
    "actions" JSONB NOT NULL,
    "options" JSONB NOT NULL DEFAULT '{}',
    "user_id" TEXT,
    "service_user_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "automation_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "schedule" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "is_enabled" BOOLEAN NOT NULL DEFAULT true,
    "definition" JSONB NOT NULL,
    "user_id" TEXT,
    "service_user_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "schedule_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "secret_organization_id_created_at_id_idx" ON "secret"("organization_id", "created_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "secret_organization_id_key_key" ON "secret"("organization_id", "key");

-- CreateIndex
CREATE INDEX "knowledge_folder_organization_id_created_at_id_idx" ON "knowledge_folder"("organization_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "knowledge_folder_enterprise_id_created_at_id_idx" ON "knowledge_folder"("enterprise_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "knowledge_folder_parent_id_idx" ON "knowledge_folder"("parent_id");

-- CreateIndex
CREATE INDEX "knowledge_note_organization_id_created_at_id_idx" ON "knowledge_note"("organization_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "knowledge_note_enterprise_id_created_at_id_idx" ON "knowledge_note"("enterprise_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "knowledge_note_folder_id_idx" ON "knowledge_note"("folder_id");

-- CreateIndex
CREATE INDEX "playbook_organization_id_created_at_id_idx" ON "playbook"("organization_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "playbook_enterprise_id_created_at_id_idx" ON "playbook"("enterprise_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "usage_enterprise_id_used_at_idx" ON "usage"("enterprise_id", "used_at");

-- CreateIndex
CREATE INDEX "usage_organization_id_used_at_idx" ON "usage"("organization_id", "used_at");

-- CreateIndex
CREATE INDEX "usage_session_id_used_at_idx" ON "usage"("session_id", "used_at");

-- CreateIndex
CREATE INDEX "legacy_call_enterprise_id_last_called_at_idx" ON "legacy_call"("enterprise_id", "last_called_at");

-- CreateIndex
CREATE INDEX "automation_organization_id_created_at_id_idx" ON "automation"("organization_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "schedule_organization_id_created_at_id_idx" ON "schedule"("organization_id", "created_at", "id");

-- By hand: what the schema file cannot say.

-- A macro means one thing in each place; a deleted playbook's is free again.
CREATE UNIQUE INDEX "playbook_macro" ON "playbook"("enterprise_id", coalesce("organization_id", ''), lower("macro"))
  WHERE "macro" IS NOT NULL AND "deleted_at" IS NULL;
CREATE UNIQUE INDEX "knowledge_note_macro" ON "knowledge_note"("enterprise_id", coalesce("organization_id", ''), lower("macro"))
  WHERE "macro" IS NOT NULL;

-- Siblings have different names.
CREATE UNIQUE INDEX "knowledge_folder_name"
  ON "knowledge_folder"("enterprise_id", coalesce("organization_id", ''), coalesce("parent_id", ''), lower("name"));

ALTER TABLE "secret" ADD CONSTRAINT "secret_type_known" CHECK ("type" IN ('cookie', 'key-value', 'totp'));
ALTER TABLE "usage" ADD CONSTRAINT "usage_not_negative" CHECK ("acus" >= 0);
