-- AlterTable
ALTER TABLE "offset_walk" ADD COLUMN     "has_begun" BOOLEAN NOT NULL DEFAULT true;

-- The version before writes that column with each list of sessions of v1, and knows no page secret: its processes run beside
-- newer ones while a service is upgraded. A hash that belongs to no page secret lets such a sign-in count for them alone.
CREATE FUNCTION fill_page_secret_hash() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.page_secret_hash := 'none:' || gen_random_uuid();
  RETURN NEW;
END
$$;
CREATE TRIGGER console_session_page_secret BEFORE INSERT ON "console_session"
  FOR EACH ROW WHEN (NEW.page_secret_hash IS NULL) EXECUTE FUNCTION fill_page_secret_hash();
