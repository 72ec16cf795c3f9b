-- CreateTable
CREATE TABLE "git_delivery" (
    "id" TEXT NOT NULL,
    "git_connection_id" TEXT NOT NULL,
    "delivery_key" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "event_name" TEXT,
    "action" TEXT,
    "repository_path" TEXT,
    "event" JSONB,
    "status" TEXT NOT NULL,
    "error" TEXT,
    "attempt_count" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3),
    "received_at" TIMESTAMPTZ(3) NOT NULL,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "git_delivery_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "git_delivery_git_connection_id_received_at_id_idx" ON "git_delivery"("git_connection_id", "received_at", "id");

-- CreateIndex
CREATE INDEX "git_delivery_received_at_idx" ON "git_delivery"("received_at");

-- CreateIndex
CREATE UNIQUE INDEX "git_delivery_git_connection_id_delivery_key_key" ON "git_delivery"("git_connection_id", "delivery_key");

-- CreateIndex
CREATE UNIQUE INDEX "git_delivery_git_connection_id_digest_key" ON "git_delivery"("git_connection_id", "digest");

-- By hand: what the schema file cannot say.
ALTER TABLE "git_delivery" ADD CONSTRAINT "git_delivery_status" CHECK ("status" IN ('pending', 'processed', 'ignored', 'failed'));

-- Most deliveries are finished.
CREATE INDEX "git_delivery_pending" ON "git_delivery" ("next_attempt_at") WHERE "next_attempt_at" IS NOT NULL;
CREATE INDEX "git_delivery_failed" ON "git_delivery" ("git_connection_id", "received_at") WHERE "status" = 'failed';
