-- AlterTable
ALTER TABLE "organization" ADD COLUMN     "max_queued_sessions" INTEGER,
ADD COLUMN     "max_storage_mb" INTEGER,
ADD COLUMN     "max_tokens_per_day" BIGINT;

-- CreateTable
CREATE TABLE "organization_storage" (
    "organization_id" TEXT NOT NULL,
    "bytes" BIGINT NOT NULL,

    CONSTRAINT "organization_storage_pkey" PRIMARY KEY ("organization_id")
);

-- By hand: what the schema file cannot say. A constraint trigger that is deferred takes the lock on the row of the organization at
-- the end of the transaction, after all other locks, and holds it for the commit only.
CREATE FUNCTION count_stored_bytes() RETURNS trigger LANGUAGE plpgsql AS $fn$
DECLARE
  changed jsonb := to_jsonb(CASE WHEN TG_OP = 'INSERT' THEN NEW ELSE OLD END);
  amount bigint := (changed->>TG_ARGV[0])::bigint * CASE WHEN TG_OP = 'INSERT' THEN 1 ELSE -1 END;
BEGIN
  INSERT INTO organization_storage AS o (organization_id, bytes) VALUES (changed->>'organization_id', amount)
  ON CONFLICT (organization_id) DO UPDATE SET bytes = o.bytes + excluded.bytes;
  RETURN NULL;
END
$fn$;

CREATE CONSTRAINT TRIGGER attachment_storage AFTER INSERT OR DELETE ON attachment
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_stored_bytes('size_bytes');
CREATE CONSTRAINT TRIGGER checkpoint_segment_storage AFTER INSERT OR DELETE ON checkpoint_segment
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_stored_bytes('bytes');

-- After the triggers, whose creation waits for writers and stops new ones: nothing is missed or counted twice.
INSERT INTO organization_storage (organization_id, bytes)
SELECT organization_id, sum(n) FROM (
  SELECT organization_id, size_bytes::bigint AS n FROM attachment UNION ALL SELECT organization_id, bytes FROM checkpoint_segment) stored
GROUP BY organization_id;
