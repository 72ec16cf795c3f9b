-- CreateTable
CREATE TABLE "session_text" (
    "session_id" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "words" tsvector NOT NULL,

    CONSTRAINT "session_text_pkey" PRIMARY KEY ("session_id","seq")
);

-- A small list of new entries: a search reads all of it, and an insert that fills it merges it into the index.
CREATE INDEX "session_text_words" ON "session_text" USING gin ("words") WITH (gin_pending_list_limit = 512);

-- The words of the first 20,000 characters of a text, with their positions; of a long word the first 64 characters. The parser keeps
-- file names, addresses and words with hyphens together, and leaves out what it takes for a tag or an entity. Without these characters
-- it finds each word of them: `log` in `src/log.ts`. Each word then gets a key of the organization in front of it.
CREATE FUNCTION session_words(organization_id text, body text) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT replace(' ' || to_tsvector('simple',
      replace(replace(replace(replace(replace(replace(replace(replace(replace(
        CASE WHEN octet_length(body) < 2000 THEN body ELSE regexp_replace(left(body, 20000), '(\S{64})\S+', '\1', 'g') END,
        '/', ' '), '.', ' '), '-', ' '), '_', ' '), '@', ' '), '&', ' '), '<', ' '), '''', ' '), '\', ' '))::text,
    ' ''', ' ''' || right(organization_id, 8))::tsvector
$$;

-- A query for the words of an organization. The text is one for to_tsquery, without the characters above.
CREATE FUNCTION session_words_query(organization_id text, query text) RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT regexp_replace(to_tsquery('simple', query)::text, '''([^'']*)''', '''' || right(organization_id, 8) || '\1''', 'g')::tsquery
$$;

-- In PL/pgSQL, which keeps the plan: a function in SQL would be planned for each entry.
CREATE FUNCTION index_session_text(session_id text, seq integer, body text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO session_text (session_id, seq, words)
  SELECT $1, $2, session_words(s.organization_id, $3) FROM session s WHERE s.id = $1
  ON CONFLICT ON CONSTRAINT session_text_pkey DO UPDATE SET words = excluded.words;
END
$$;

CREATE FUNCTION index_log_entry() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM index_session_text(NEW.session_id, NEW.seq, coalesce(NEW.body, NEW.data->>'title', ''));
  RETURN NULL;
END
$$;
CREATE TRIGGER log_entry_text AFTER INSERT ON "log_entry" FOR EACH ROW
  WHEN (NEW.message_type IS NOT NULL OR (NEW.kind = 'TOOL_CALL' AND NEW.data->>'status' IN ('completed', 'failed')))
  EXECUTE FUNCTION index_log_entry();

CREATE FUNCTION index_session_title() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM index_session_text(NEW.id, 0, NEW.title);
  RETURN NULL;
END
$$;
CREATE TRIGGER session_title_inserted AFTER INSERT ON "session" FOR EACH ROW EXECUTE FUNCTION index_session_title();
CREATE TRIGGER session_title_updated AFTER UPDATE OF title ON "session" FOR EACH ROW
  WHEN (OLD.title IS DISTINCT FROM NEW.title) EXECUTE FUNCTION index_session_title();

-- Search finds an edited message by its current text, and no withdrawn message.
CREATE FUNCTION index_message_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.is_withdrawn THEN
    DELETE FROM session_text t WHERE t.session_id = NEW.session_id AND t.seq = NEW.seq;
  ELSIF NEW.body IS NOT NULL THEN
    PERFORM index_session_text(NEW.session_id, NEW.seq, NEW.body);
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER message_change_text AFTER INSERT OR UPDATE ON "message_change" FOR EACH ROW EXECUTE FUNCTION index_message_change();

-- Whoever deletes an entry or a session deletes its words.
CREATE FUNCTION forget_session_text() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_TABLE_NAME = 'session' THEN DELETE FROM session_text t WHERE t.session_id = OLD.id;
  ELSE DELETE FROM session_text t WHERE t.session_id = OLD.session_id AND t.seq = OLD.seq;
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER session_text_forgotten AFTER DELETE ON "session" FOR EACH ROW EXECUTE FUNCTION forget_session_text();
CREATE TRIGGER log_entry_text_forgotten AFTER DELETE ON "log_entry" FOR EACH ROW EXECUTE FUNCTION forget_session_text();
