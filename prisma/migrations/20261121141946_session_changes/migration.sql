-- Sessions that there are already have not changed since anybody began to follow: no row is written anew.
ALTER TABLE "session" ADD COLUMN     "changed_xid" xid8 NOT NULL DEFAULT '0';
ALTER TABLE "session" ALTER COLUMN "changed_xid" SET DEFAULT pg_current_xact_id();

-- CreateIndex
CREATE INDEX "session_organization_id_changed_xid_id_idx" ON "session"("organization_id", "changed_xid", "id");

-- What Prisma cannot say: whoever writes to a session need not think of those who follow it.
CREATE FUNCTION note_session_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.changed_xid := pg_current_xact_id();
  RETURN NEW;
END
$$;
CREATE TRIGGER session_change BEFORE UPDATE ON "session"
  FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION note_session_change();
