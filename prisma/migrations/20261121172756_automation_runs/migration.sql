-- DropIndex
DROP INDEX "automation_next_run_at_idx";

-- AlterTable
ALTER TABLE "automation" ADD COLUMN     "due_at" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "automation_run" (
    "id" TEXT NOT NULL,
    "automation_id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "delivery_key" TEXT NOT NULL,
    "trigger" JSONB NOT NULL,
    "status" TEXT NOT NULL,
    "session_id" TEXT,
    "error_code" TEXT,
    "error_message" TEXT,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "depth" INTEGER NOT NULL DEFAULT 0,
    "addition" TEXT,
    "scheduled_for" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "started_at" TIMESTAMPTZ(3),

    CONSTRAINT "automation_run_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "automation_run_automation_id_created_at_id_idx" ON "automation_run"("automation_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "automation_run_session_id_idx" ON "automation_run"("session_id");

-- CreateIndex
CREATE INDEX "automation_run_status_created_at_idx" ON "automation_run"("status", "created_at");

-- CreateIndex
CREATE UNIQUE INDEX "automation_run_automation_id_delivery_key_key" ON "automation_run"("automation_id", "delivery_key");

-- CreateIndex
CREATE INDEX "automation_due_at_idx" ON "automation"("due_at");

-- What was waiting for its time is claimed by this from now on.
UPDATE "automation" SET "due_at" = "next_run_at";
