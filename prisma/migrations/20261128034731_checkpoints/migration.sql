-- AlterTable
ALTER TABLE "run" ADD COLUMN     "checkpoint_id" TEXT,
ADD COLUMN     "is_restore_requested" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "session" ADD COLUMN     "forked_checkpoint_id" TEXT,
ADD COLUMN     "forked_from_id" TEXT;

-- CreateTable
CREATE TABLE "checkpoint" (
    "id" TEXT NOT NULL,
    "session_id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "generation" INTEGER NOT NULL,
    "parent_id" TEXT,
    "kind" TEXT NOT NULL,
    "turn" INTEGER NOT NULL,
    "seq" INTEGER NOT NULL,
    "agent_session_id" TEXT,
    "content" JSONB NOT NULL,
    "segment_ids" TEXT[],
    "lender_ids" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "files" INTEGER NOT NULL,
    "bytes" BIGINT NOT NULL,
    "stored_bytes" BIGINT NOT NULL,
    "missing" JSONB NOT NULL DEFAULT '[]',
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "checkpoint_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "checkpoint_segment" (
    "id" TEXT NOT NULL,
    "session_id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "bytes" BIGINT NOT NULL,
    "state" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "checkpoint_segment_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "checkpoint_key" (
    "organization_id" TEXT NOT NULL,
    "sealed" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "checkpoint_key_pkey" PRIMARY KEY ("organization_id")
);

-- CreateIndex
CREATE INDEX "checkpoint_session_id_created_at_id_idx" ON "checkpoint"("session_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "checkpoint_organization_id_idx" ON "checkpoint"("organization_id");

-- CreateIndex
CREATE INDEX "checkpoint_lender_ids_idx" ON "checkpoint" USING GIN ("lender_ids");

-- CreateIndex
CREATE INDEX "checkpoint_segment_session_id_idx" ON "checkpoint_segment"("session_id");

-- CreateIndex
CREATE INDEX "checkpoint_segment_organization_id_idx" ON "checkpoint_segment"("organization_id");

-- CreateIndex
CREATE INDEX "checkpoint_segment_state_created_at_idx" ON "checkpoint_segment"("state", "created_at");
