-- AlterTable
ALTER TABLE "session_change" ADD COLUMN     "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT '1970-01-01 00:00:00+00'::timestamp with time zone,
ADD COLUMN     "principal_id" TEXT NOT NULL DEFAULT '';

-- By hand: what the schema file cannot say.

UPDATE "session_change" c
   SET "created_at" = s."created_at", "principal_id" = coalesce(s."user_id", s."service_user_id", '')
  FROM "session" s WHERE s."id" = c."session_id";

-- The sessions that wait for an answer, newest first: all of them, those of an organization, and those that somebody started.
CREATE INDEX "session_change_waiting" ON "session_change"("created_at" DESC, "session_id" DESC) WHERE "idleness" = 'waiting';
CREATE INDEX "session_change_waiting_in" ON "session_change"("organization_id", "created_at" DESC, "session_id" DESC)
  WHERE "idleness" = 'waiting';
CREATE INDEX "session_change_waiting_of" ON "session_change"("principal_id", "created_at" DESC, "session_id" DESC)
  WHERE "idleness" = 'waiting';

-- Lists of how sessions ended, of sub-sessions, and of unlisted sessions. None of these columns moves with a message. The
-- condition of the second is one that "parent_id = …" does not imply: the sub-sessions of one session have an index of their own.
CREATE INDEX "session_ended" ON "session"("organization_id", "ended_by", "created_at" DESC, "id" DESC)
  WHERE "ended_by" IS NOT NULL;
CREATE INDEX "session_child" ON "session"("organization_id", "created_at" DESC, "id" DESC) WHERE coalesce("parent_id", '') <> '';
CREATE INDEX "session_unlisted" ON "session"("organization_id", "created_at" DESC, "id" DESC) WHERE "is_unlisted";

CREATE OR REPLACE FUNCTION insert_session_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO session_change (session_id, organization_id, principal_id, idleness, created_at, updated_at, changed_xid)
  SELECT n.id, n.organization_id, coalesce(n.user_id, n.service_user_id, ''), session_idleness(n.status, n.status_detail),
         n.created_at, n.updated_at, n.changed_xid FROM newer n;
  RETURN NULL;
END
$$;
DO $$ BEGIN IF EXISTS (SELECT FROM "session_change") THEN ANALYZE "session_change"; END IF; END $$;
