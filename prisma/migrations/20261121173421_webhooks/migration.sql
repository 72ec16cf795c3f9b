-- CreateTable
CREATE TABLE "webhook_endpoint" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "description" TEXT,
    "event_types" TEXT[],
    "is_enabled" BOOLEAN NOT NULL,
    "disabled_reason" TEXT,
    "since_at" TIMESTAMPTZ(3) NOT NULL,
    "sealed" TEXT NOT NULL,
    "previous_sealed" TEXT,
    "previous_until_at" TIMESTAMPTZ(3),
    "consecutive_failures" INTEGER NOT NULL DEFAULT 0,
    "failing_since_at" TIMESTAMPTZ(3),
    "user_id" TEXT,
    "service_user_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "webhook_endpoint_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_delivery" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "endpoint_id" TEXT NOT NULL,
    "event_type" TEXT NOT NULL,
    "event_id" TEXT NOT NULL,
    "session_id" TEXT,
    "seq" INTEGER,
    "status" TEXT NOT NULL,
    "attempt_count" INTEGER NOT NULL DEFAULT 0,
    "attempts" JSONB NOT NULL DEFAULT '[]',
    "next_attempt_at" TIMESTAMPTZ(3),
    "begun_at" TIMESTAMPTZ(3) NOT NULL,
    "finished_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "webhook_delivery_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_feed" (
    "organization_id" TEXT NOT NULL,
    "changed_xid" xid8 NOT NULL,
    "session_id" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "webhook_feed_pkey" PRIMARY KEY ("organization_id")
);

-- CreateTable
CREATE TABLE "webhook_progress" (
    "session_id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,

    CONSTRAINT "webhook_progress_pkey" PRIMARY KEY ("session_id")
);

-- CreateIndex
CREATE INDEX "webhook_endpoint_organization_id_created_at_id_idx" ON "webhook_endpoint"("organization_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "webhook_delivery_endpoint_id_created_at_id_idx" ON "webhook_delivery"("endpoint_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "webhook_delivery_endpoint_id_next_attempt_at_idx" ON "webhook_delivery"("endpoint_id", "next_attempt_at");

-- CreateIndex
CREATE INDEX "webhook_delivery_created_at_idx" ON "webhook_delivery"("created_at");

-- CreateIndex
CREATE UNIQUE INDEX "webhook_delivery_endpoint_id_event_id_key" ON "webhook_delivery"("endpoint_id", "event_id");

-- CreateIndex
CREATE INDEX "webhook_progress_organization_id_idx" ON "webhook_progress"("organization_id");
