-- Lists of one status, and of what is archived or is not: their pages are read as they stand in these.

-- CreateIndex
CREATE INDEX "session_organization_id_status_created_at_id_idx" ON "session"("organization_id", "status", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "session_organization_id_is_archived_created_at_id_idx" ON "session"("organization_id", "is_archived", "created_at" DESC, "id" DESC);
