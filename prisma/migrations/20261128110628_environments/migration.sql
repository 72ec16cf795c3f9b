-- AlterTable
ALTER TABLE "repository" ADD COLUMN     "environment" TEXT;

-- CreateTable
CREATE TABLE "environment_build" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "repository_id" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "machine" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "session_id" TEXT NOT NULL,
    "checkpoint_id" TEXT,
    "commit" TEXT NOT NULL,
    "bytes" BIGINT NOT NULL DEFAULT 0,
    "log" TEXT NOT NULL DEFAULT '',
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "finished_at" TIMESTAMPTZ(3),
    "used_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "environment_build_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "environment_build_repository_id_created_at_id_idx" ON "environment_build"("repository_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "environment_build_checkpoint_id_idx" ON "environment_build"("checkpoint_id");

-- CreateIndex
CREATE INDEX "environment_build_used_at_idx" ON "environment_build"("used_at");

-- CreateIndex
CREATE UNIQUE INDEX "environment_build_organization_id_repository_id_hash_key" ON "environment_build"("organization_id", "repository_id", "hash");
