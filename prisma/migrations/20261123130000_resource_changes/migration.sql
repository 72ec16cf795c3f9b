-- AlterTable
ALTER TABLE "installation" ADD COLUMN     "forgotten_changes_xid" xid8 NOT NULL DEFAULT '0';

-- CreateTable
CREATE TABLE "resource_change" (
    "kind" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "place_id" TEXT NOT NULL,
    "changed_xid" xid8 NOT NULL DEFAULT pg_current_xact_id(),
    "removed_at" TIMESTAMPTZ(3),

    CONSTRAINT "resource_change_pkey" PRIMARY KEY ("kind","id")
);

-- CreateIndex
CREATE INDEX "resource_change_place_id_kind_changed_xid_id_idx" ON "resource_change"("place_id", "kind", "changed_xid", "id");

-- By hand: what the schema file cannot say. What there is already has not changed since anybody began to follow: no row is made.
CREATE INDEX "resource_change_removed" ON "resource_change"("removed_at") WHERE "removed_at" IS NOT NULL;

-- A function and three triggers for each table: whoever writes to a resource need not think of those who follow it. `place`: the
-- organization, or the enterprise for what belongs to it. `is_resource`: the rows that are resources. `is_removed`: a row that is
-- kept, but is gone for users. `is_other`: two versions of a row differ in what users see.
DO $do$
DECLARE
  each record;
BEGIN
  FOR each IN SELECT * FROM (VALUES
    ('playbook', 'playbook', 'coalesce(n.organization_id, n.enterprise_id)', 'true', 'n.deleted_at IS NOT NULL', 'o.* IS DISTINCT FROM n.*'),
    ('knowledge_note', 'note', 'coalesce(n.organization_id, n.enterprise_id)', 'true', 'false', 'o.* IS DISTINCT FROM n.*'),
    ('knowledge_folder', 'folder', 'coalesce(n.organization_id, n.enterprise_id)', 'true', 'false', 'o.* IS DISTINCT FROM n.*'),
    ('secret', 'secret', 'n.organization_id', 'true', 'false', 'o.* IS DISTINCT FROM n.*'),
    ('automation', 'automation', 'n.organization_id', 'true', 'n.deleted_at IS NOT NULL', 'o.* IS DISTINCT FROM n.*'),
    ('automation_run', 'automationRun', 'n.organization_id', 'true', 'false', 'o.* IS DISTINCT FROM n.*'),
    ('webhook_endpoint', 'webhookEndpoint', 'n.organization_id', 'true', 'false', 'o.* IS DISTINCT FROM n.*'),
    -- A claim moves next_attempt_at alone.
    ('webhook_delivery', 'webhookDelivery', 'n.organization_id', 'true', 'false',
     '(o.status, o.attempt_count, o.begun_at, o.finished_at) IS DISTINCT FROM (n.status, n.attempt_count, n.begun_at, n.finished_at)'),
    ('role', 'role', 'n.enterprise_id', 'n.enterprise_id IS NOT NULL', 'false', 'o.* IS DISTINCT FROM n.*'),
    ('role_assignment', 'member', 'n.organization_id', 'n.organization_id IS NOT NULL AND n.user_id IS NOT NULL', 'false', 'o.* IS DISTINCT FROM n.*'),
    ('service_user', 'serviceUser', 'coalesce(n.organization_id, n.enterprise_id)', 'true', 'n.deleted_at IS NOT NULL', 'o.* IS DISTINCT FROM n.*')
  ) AS t(table_name, kind, place, is_resource, is_removed, is_other)
  LOOP
    EXECUTE format($sql$
      CREATE FUNCTION %1$s_changes() RETURNS trigger LANGUAGE plpgsql AS $fn$
      BEGIN
        IF TG_OP = 'INSERT' THEN
          INSERT INTO resource_change (kind, id, place_id, removed_at)
          SELECT %2$L, n.id, %3$s, CASE WHEN %5$s THEN now() END FROM newer n WHERE %4$s
          ON CONFLICT (kind, id) DO UPDATE SET changed_xid = excluded.changed_xid, place_id = excluded.place_id, removed_at = excluded.removed_at;
        ELSIF TG_OP = 'UPDATE' THEN
          INSERT INTO resource_change (kind, id, place_id, removed_at)
          SELECT %2$L, n.id, %3$s, CASE WHEN %5$s THEN now() END FROM newer n JOIN older o ON o.id = n.id WHERE %4$s AND %6$s
          ON CONFLICT (kind, id) DO UPDATE SET changed_xid = excluded.changed_xid, place_id = excluded.place_id, removed_at = excluded.removed_at;
        ELSE
          INSERT INTO resource_change (kind, id, place_id, removed_at)
          SELECT %2$L, n.id, %3$s, now() FROM older n WHERE %4$s
          ON CONFLICT (kind, id) DO UPDATE SET changed_xid = excluded.changed_xid, removed_at = excluded.removed_at;
        END IF;
        RETURN NULL;
      END
      $fn$;
      CREATE TRIGGER %1$s_inserted AFTER INSERT ON %1$I REFERENCING NEW TABLE AS newer
        FOR EACH STATEMENT EXECUTE FUNCTION %1$s_changes();
      CREATE TRIGGER %1$s_updated AFTER UPDATE ON %1$I REFERENCING OLD TABLE AS older NEW TABLE AS newer
        FOR EACH STATEMENT EXECUTE FUNCTION %1$s_changes();
      CREATE TRIGGER %1$s_deleted AFTER DELETE ON %1$I REFERENCING OLD TABLE AS older
        FOR EACH STATEMENT EXECUTE FUNCTION %1$s_changes();
    $sql$, each.table_name, each.kind, each.place, each.is_resource, each.is_removed, each.is_other);
  END LOOP;
END
$do$;
