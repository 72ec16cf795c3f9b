-- The column has the standard term of what it stores. No version has been released yet, so that the rule that nothing in use is
-- renamed (CONTRIBUTING.md) does not apply.
ALTER TABLE "resource_change" RENAME COLUMN "place_id" TO "scope_id";
ALTER INDEX "resource_change_place_id_kind_changed_xid_id_idx" RENAME TO "resource_change_scope_id_kind_changed_xid_id_idx";

-- The functions of the triggers name the column.
DO $do$
DECLARE
  each record;
BEGIN
  FOR each IN
    SELECT p.oid FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
     WHERE n.nspname = current_schema() AND p.prorettype = 'trigger'::regtype AND p.prosrc LIKE '%INSERT INTO resource_change (%'
  LOOP
    EXECUTE replace(pg_get_functiondef(each.oid), 'place_id', 'scope_id');
  END LOOP;
END
$do$;
