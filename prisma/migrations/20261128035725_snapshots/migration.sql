-- CreateTable
CREATE TABLE "snapshot" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "checkpoint_id" TEXT NOT NULL,
    "session_id" TEXT NOT NULL,
    "repositories" JSONB NOT NULL DEFAULT '[]',
    "user_id" TEXT,
    "service_user_id" TEXT,
    "service_key_id" TEXT,
    "updated_by_user_id" TEXT,
    "updated_by_service_user_id" TEXT,
    "updated_by_service_key_id" TEXT,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "snapshot_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "snapshot_organization_id_created_at_id_idx" ON "snapshot"("organization_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "snapshot_checkpoint_id_idx" ON "snapshot"("checkpoint_id");

-- CreateIndex
CREATE UNIQUE INDEX "snapshot_organization_id_name_key" ON "snapshot"("organization_id", "name");

-- AddForeignKey
ALTER TABLE "snapshot" ADD CONSTRAINT "snapshot_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- By hand: what the schema file cannot say. Digests of a conversation leave out what a rewind reverted; few sessions have such entries.
CREATE INDEX "log_entry_rewinds" ON "log_entry"("session_id", "seq") WHERE "kind" = 'REWIND';

-- The list in the order of the name, as for other resources (20261123120000_list_orders).
CREATE INDEX "snapshot_by_name" ON "snapshot"("organization_id", lower("left"("name", 64)), "id");

-- The changes of snapshots for those who follow them, as for other resources (20261123130000_resource_changes).
CREATE FUNCTION snapshot_changes() RETURNS trigger LANGUAGE plpgsql AS $fn$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO resource_change (kind, id, scope_id, removed_at)
    SELECT 'snapshot', n.id, n.organization_id, NULL FROM newer n
    ON CONFLICT (kind, id) DO UPDATE SET changed_xid = excluded.changed_xid, scope_id = excluded.scope_id, removed_at = excluded.removed_at;
  ELSIF TG_OP = 'UPDATE' THEN
    INSERT INTO resource_change (kind, id, scope_id, removed_at)
    SELECT 'snapshot', n.id, n.organization_id, NULL FROM newer n JOIN older o ON o.id = n.id WHERE o.* IS DISTINCT FROM n.*
    ON CONFLICT (kind, id) DO UPDATE SET changed_xid = excluded.changed_xid, scope_id = excluded.scope_id, removed_at = excluded.removed_at;
  ELSE
    INSERT INTO resource_change (kind, id, scope_id, removed_at)
    SELECT 'snapshot', o.id, o.organization_id, now() FROM older o
    ON CONFLICT (kind, id) DO UPDATE SET changed_xid = excluded.changed_xid, removed_at = excluded.removed_at;
  END IF;
  RETURN NULL;
END
$fn$;
CREATE TRIGGER snapshot_inserted AFTER INSERT ON "snapshot" REFERENCING NEW TABLE AS newer
  FOR EACH STATEMENT EXECUTE FUNCTION snapshot_changes();
CREATE TRIGGER snapshot_updated AFTER UPDATE ON "snapshot" REFERENCING OLD TABLE AS older NEW TABLE AS newer
  FOR EACH STATEMENT EXECUTE FUNCTION snapshot_changes();
CREATE TRIGGER snapshot_deleted AFTER DELETE ON "snapshot" REFERENCING OLD TABLE AS older
  FOR EACH STATEMENT EXECUTE FUNCTION snapshot_changes();
