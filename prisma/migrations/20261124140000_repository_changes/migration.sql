-- AlterTable
ALTER TABLE "run" ADD COLUMN     "changes_requested_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "session" ADD COLUMN     "changes_at" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "repository_change" (
    "session_id" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "turn" INTEGER NOT NULL,
    "base_commit" TEXT,
    "head_commit" TEXT,
    "file_count" INTEGER NOT NULL,
    "additions" INTEGER NOT NULL,
    "deletions" INTEGER NOT NULL,
    "is_truncated" BOOLEAN NOT NULL,
    "files_id" TEXT,
    "patch_id" TEXT,
    "bundle_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "repository_change_pkey" PRIMARY KEY ("session_id","position","turn")
);
