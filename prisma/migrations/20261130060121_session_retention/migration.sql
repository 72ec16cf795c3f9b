-- AlterTable
ALTER TABLE "enterprise" ADD COLUMN     "forgotten_audit_id" TEXT,
ADD COLUMN     "forgotten_audit_xid" xid8;

-- CreateTable
CREATE TABLE "deleted_session" (
    "session_id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "is_unlisted" BOOLEAN NOT NULL,
    "user_id" TEXT,
    "service_user_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "deleted_at" TIMESTAMPTZ(3) NOT NULL,
    "cleared_at" TIMESTAMPTZ(3),
    "changed_xid" xid8 NOT NULL DEFAULT current_transaction(),

    CONSTRAINT "deleted_session_pkey" PRIMARY KEY ("session_id")
);

-- CreateIndex
CREATE INDEX "deleted_session_organization_id_changed_xid_session_id_idx" ON "deleted_session"("organization_id", "changed_xid", "session_id");

-- The sessions whose logs are not deleted completely.
CREATE INDEX "deleted_session_uncleared" ON "deleted_session" ("deleted_at") WHERE "cleared_at" IS NULL;
