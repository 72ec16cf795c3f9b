-- CreateTable
CREATE TABLE "installation" (
    "id" TEXT NOT NULL,
    "enterprise_id" TEXT NOT NULL,
    "key_fingerprint" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "installation_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "enterprise" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "enterprise_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "organization" (
    "id" TEXT NOT NULL,
    "enterprise_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "max_cycle_acu_limit" INTEGER,
    "max_session_acu_limit" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "organization_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "user_account" (
    "id" TEXT NOT NULL,
    "enterprise_id" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "name" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "user_account_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "service_user" (
    "id" TEXT NOT NULL,
    "enterprise_id" TEXT NOT NULL,
    "organization_id" TEXT,
    "name" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "service_user_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "role" (
    "id" TEXT NOT NULL,
    "enterprise_id" TEXT,
    "name" TEXT NOT NULL,
    "scope" TEXT NOT NULL,
    "permissions" TEXT[],

    CONSTRAINT "role_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "role_assignment" (
    "id" TEXT NOT NULL,
    "enterprise_id" TEXT NOT NULL,
    "organization_id" TEXT,
    "user_id" TEXT,
    "service_user_id" TEXT,
    "role_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "role_assignment_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "api_key" (
    "id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "token_hash" TEXT NOT NULL,
    "display" TEXT NOT NULL,
    "enterprise_id" TEXT NOT NULL,
    "organization_id" TEXT,
    "user_id" TEXT,
    "service_user_id" TEXT,
    "role_id" TEXT,
    "created_by_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "last_used_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "api_key_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "session" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "title" TEXT NOT NULL,
    "is_title_derived" BOOLEAN NOT NULL,
    "status" TEXT NOT NULL,
    "status_detail" TEXT,
    "request" TEXT,
    "request_from" TEXT,
    "ended_by" TEXT,
    "is_fresh" BOOLEAN NOT NULL DEFAULT false,
    "is_archived" BOOLEAN NOT NULL DEFAULT false,
    "is_unlisted" BOOLEAN NOT NULL DEFAULT false,
    "origin" TEXT NOT NULL,
    "tags" TEXT[],
    "prompt" TEXT NOT NULL,
    "snapshot_id" TEXT,
    "playbook_id" TEXT,
    "automation_id" TEXT,
    "parent_id" TEXT,
    "agent" TEXT,
    "secret_ids" JSONB,
    "knowledge_ids" JSONB,
    "max_acu_limit" INTEGER,
    "acus_consumed" DOUBLE PRECISION NOT NULL DEFAULT 0,
    "structured_output_schema" JSONB,
    "structured_output" JSONB,
    "pull_requests" JSONB NOT NULL DEFAULT '[]',
    "user_id" TEXT,
    "service_user_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "session_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "session_head" (
    "session_id" TEXT NOT NULL,
    "next_seq" INTEGER NOT NULL DEFAULT 1,
    "generation" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "session_head_pkey" PRIMARY KEY ("session_id")
);

-- CreateTable
CREATE TABLE "session_tag" (
    "organization_id" TEXT NOT NULL,
    "tag" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "session_id" TEXT NOT NULL,

    CONSTRAINT "session_tag_pkey" PRIMARY KEY ("organization_id","tag","created_at","session_id")
);

-- CreateTable
CREATE TABLE "log_entry" (
    "session_id" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "message_type" TEXT,
    "body" TEXT,
    "data" JSONB,
    "user_id" TEXT,
    "service_user_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "log_entry_pkey" PRIMARY KEY ("session_id","seq")
);

-- CreateTable
CREATE TABLE "session_secret" (
    "session_id" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "sealed" TEXT NOT NULL,
    "is_sensitive" BOOLEAN NOT NULL,

    CONSTRAINT "session_secret_pkey" PRIMARY KEY ("session_id","key")
);

-- CreateTable
CREATE TABLE "run" (
    "session_id" TEXT NOT NULL,
    "queued_at" TIMESTAMPTZ(3),
    "generation" INTEGER NOT NULL DEFAULT 0,
    "command" TEXT,
    "delivered_seq" INTEGER NOT NULL DEFAULT 0,
    "answered_seqs" INTEGER[] DEFAULT ARRAY[]::INTEGER[],
    "turn_after_seq" INTEGER NOT NULL DEFAULT 0,
    "turn_count" INTEGER NOT NULL DEFAULT 0,
    "is_turn_open" BOOLEAN NOT NULL DEFAULT false,
    "agent_session_id" TEXT,
    "home_worker_id" TEXT,
    "crash_count" INTEGER NOT NULL DEFAULT 0,
    "last_crash_at" TIMESTAMPTZ(3),

    CONSTRAINT "run_pkey" PRIMARY KEY ("session_id")
);

-- CreateTable
CREATE TABLE "lease" (
    "session_id" TEXT NOT NULL,
    "worker_id" TEXT NOT NULL,
    "generation" INTEGER NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "lease_pkey" PRIMARY KEY ("session_id")
);

-- CreateTable
CREATE TABLE "idempotency_key" (
    "organization_id" TEXT NOT NULL,
    "principal" TEXT NOT NULL,
    "operation" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "input_hash" TEXT NOT NULL,
    "result_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotency_key_pkey" PRIMARY KEY ("organization_id","principal","operation","key")
);

-- CreateTable
CREATE TABLE "attachment" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "session_id" TEXT,
    "name" TEXT NOT NULL,
    "content_type" TEXT NOT NULL,
    "size_bytes" INTEGER NOT NULL,
    "storage_key" TEXT NOT NULL,
    "source" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "attachment_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "audit_entry" (
    "id" TEXT NOT NULL,
    "xid" xid8 NOT NULL DEFAULT pg_current_xact_id(),
    "enterprise_id" TEXT NOT NULL,
    "organization_id" TEXT,
    "action" TEXT NOT NULL,
    "user_id" TEXT,
    "service_user_id" TEXT,
    "api_key_id" TEXT,
    "address" TEXT,
    "session_id" TEXT,
    "target_id" TEXT,
    "data" JSONB NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "audit_entry_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "organization_enterprise_id_created_at_id_idx" ON "organization"("enterprise_id", "created_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "user_account_enterprise_id_email_key" ON "user_account"("enterprise_id", "email");

-- CreateIndex
CREATE INDEX "service_user_organization_id_created_at_id_idx" ON "service_user"("organization_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "role_assignment_user_id_idx" ON "role_assignment"("user_id");

-- CreateIndex
CREATE INDEX "role_assignment_service_user_id_idx" ON "role_assignment"("service_user_id");

-- CreateIndex
CREATE INDEX "role_assignment_organization_id_created_at_id_idx" ON "role_assignment"("organization_id", "created_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "api_key_token_hash_key" ON "api_key"("token_hash");

-- CreateIndex
CREATE INDEX "api_key_organization_id_created_at_id_idx" ON "api_key"("organization_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "api_key_enterprise_id_created_at_id_idx" ON "api_key"("enterprise_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "session_organization_id_created_at_id_idx" ON "session"("organization_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "session_organization_id_updated_at_id_idx" ON "session"("organization_id", "updated_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "session_parent_id_created_at_id_idx" ON "session"("parent_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "session_tag_session_id_idx" ON "session_tag"("session_id");

-- CreateIndex
CREATE UNIQUE INDEX "log_entry_id_key" ON "log_entry"("id");

-- CreateIndex
CREATE INDEX "lease_worker_id_idx" ON "lease"("worker_id");

-- CreateIndex
CREATE INDEX "lease_expires_at_idx" ON "lease"("expires_at");

-- CreateIndex
CREATE INDEX "idempotency_key_created_at_idx" ON "idempotency_key"("created_at");

-- CreateIndex
CREATE INDEX "attachment_session_id_created_at_id_idx" ON "attachment"("session_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "attachment_organization_id_created_at_id_idx" ON "attachment"("organization_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "audit_entry_enterprise_id_created_at_id_idx" ON "audit_entry"("enterprise_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "audit_entry_organization_id_created_at_id_idx" ON "audit_entry"("organization_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "audit_entry_xid_id_idx" ON "audit_entry"("xid", "id");

-- AddForeignKey
ALTER TABLE "organization" ADD CONSTRAINT "organization_enterprise_id_fkey" FOREIGN KEY ("enterprise_id") REFERENCES "enterprise"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "user_account" ADD CONSTRAINT "user_account_enterprise_id_fkey" FOREIGN KEY ("enterprise_id") REFERENCES "enterprise"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "service_user" ADD CONSTRAINT "service_user_enterprise_id_fkey" FOREIGN KEY ("enterprise_id") REFERENCES "enterprise"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "role_assignment" ADD CONSTRAINT "role_assignment_role_id_fkey" FOREIGN KEY ("role_id") REFERENCES "role"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- By hand: what the schema file cannot say.

-- Messages are read without the entries between them.
CREATE INDEX "log_entry_messages" ON "log_entry"("session_id", "seq") WHERE "message_type" IS NOT NULL;

-- The queue is short however many sessions there are.
CREATE INDEX "run_queue" ON "run"("queued_at") WHERE "queued_at" IS NOT NULL;

-- Written on every append: room on the page keeps those updates off the index.
ALTER TABLE "session_head" SET (fillfactor = 50);

ALTER TABLE "session" ADD CONSTRAINT "session_status_known"
  CHECK ("status" IN ('new', 'claimed', 'running', 'exit', 'error', 'suspended', 'resuming'));
ALTER TABLE "session" ADD CONSTRAINT "session_ended_by_known" CHECK ("ended_by" IN ('finished', 'terminated', 'expired'));
ALTER TABLE "log_entry" ADD CONSTRAINT "log_entry_message_has_body" CHECK ("message_type" IS NULL OR "body" IS NOT NULL);
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_kind_known"
  CHECK ("kind" IN ('PERSONAL', 'SERVICE', 'PERSONAL_ACCESS_TOKEN', 'SERVICE_USER'));

-- One address is one user, however it is written.
CREATE UNIQUE INDEX "user_account_address" ON "user_account"("enterprise_id", lower("email"));
