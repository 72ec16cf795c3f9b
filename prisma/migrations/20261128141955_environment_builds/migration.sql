-- AlterTable
ALTER TABLE "environment_build" ADD COLUMN     "definition" TEXT,
ADD COLUMN     "trigger" TEXT NOT NULL DEFAULT 'SESSION';

-- CreateTable
CREATE TABLE "environment_read" (
    "organization_id" TEXT NOT NULL,
    "repository_id" TEXT NOT NULL,
    "due_at" TIMESTAMPTZ(3),
    "environment" JSONB,
    "commit" TEXT,
    "error" TEXT,
    "read_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "environment_read_pkey" PRIMARY KEY ("organization_id","repository_id")
);

-- CreateIndex
CREATE INDEX "environment_read_repository_id_idx" ON "environment_read"("repository_id");

-- CreateIndex
CREATE INDEX "environment_read_due_at_idx" ON "environment_read"("due_at");

-- CreateIndex
CREATE INDEX "environment_build_session_id_idx" ON "environment_build"("session_id");

-- A repository has one build at a time without a user's session.
CREATE UNIQUE INDEX "environment_build_under_way_key" ON "environment_build"("organization_id", "repository_id")
  WHERE "trigger" <> 'SESSION' AND "state" IN ('QUEUED', 'BUILDING');
