-- AlterTable
ALTER TABLE "session" ADD COLUMN     "repository_names" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- CreateTable
CREATE TABLE "session_repository" (
    "session_id" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "repository_id" TEXT NOT NULL,
    "git_connection_id" TEXT NOT NULL,
    "host" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "requested_ref" TEXT,
    "base_ref" TEXT,
    "base_commit" TEXT,
    "branch" TEXT NOT NULL,
    "is_branch_named" BOOLEAN NOT NULL DEFAULT false,
    "pull_request_number" INTEGER,
    "directory" TEXT NOT NULL,
    "is_read_only" BOOLEAN NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'PENDING',
    "error" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "session_repository_pkey" PRIMARY KEY ("session_id","position")
);

-- CreateIndex
CREATE INDEX "session_repository_repository_id_session_id_idx" ON "session_repository"("repository_id", "session_id");


-- By hand: what the schema file cannot say.
ALTER TABLE "session_repository" ADD CONSTRAINT "session_repository_state" CHECK ("state" IN ('PENDING', 'CLONING', 'READY', 'FAILED'));

-- Sessions without repositories are not in it.
CREATE INDEX "session_repository_names" ON "session" USING gin ("repository_names") WHERE "repository_names" <> '{}';
