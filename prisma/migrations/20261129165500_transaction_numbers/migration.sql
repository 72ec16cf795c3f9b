-- The numbers of transactions order changes and audit entries, and clients have them in cursors. A database that was restored into
-- another cluster continues with larger ones: the start, or the restore, replaces the first function.
CREATE FUNCTION transaction_offset() RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE RETURN 0::bigint;

-- The number of the current transaction; of the oldest open one; the first one that has not begun. Each is inlined into its statement.
CREATE FUNCTION current_transaction() RETURNS xid8 LANGUAGE sql STABLE
  RETURN (pg_current_xact_id()::text::bigint + transaction_offset())::text::xid8;
CREATE FUNCTION oldest_transaction() RETURNS xid8 LANGUAGE sql STABLE PARALLEL SAFE
  RETURN (pg_snapshot_xmin(pg_current_snapshot())::text::bigint + transaction_offset())::text::xid8;
CREATE FUNCTION next_transaction() RETURNS xid8 LANGUAGE sql STABLE PARALLEL SAFE
  RETURN (pg_snapshot_xmax(pg_current_snapshot())::text::bigint + transaction_offset())::text::xid8;

-- AlterTable
ALTER TABLE "session" ALTER COLUMN "changed_xid" SET DEFAULT current_transaction();
ALTER TABLE "audit_entry" ALTER COLUMN "xid" SET DEFAULT current_transaction();
ALTER TABLE "resource_change" ALTER COLUMN "changed_xid" SET DEFAULT current_transaction();

CREATE OR REPLACE FUNCTION note_session_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.changed_xid := current_transaction();
  RETURN NEW;
END
$$;
