-- The words of a title, and the groups of three characters in it, so that a search for a part of a title reads few rows. Of two characters,
-- only pairs of digits and pairs that are not ASCII. ASCII letters are in lower case. A tilde, which no word begins with, is in front of each
-- group, after the key of the organization.
CREATE FUNCTION session_title_words(organization_id text, title text) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT session_words($1, $2) || coalesce(array_to_tsvector(array_agg(DISTINCT right($1, 8) || '~' || part)), '')
    FROM (SELECT c || lead(c) OVER w AS pair, c || lead(c) OVER w || lead(c, 2) OVER w AS three
            FROM unnest(string_to_array(translate($2, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz'), NULL)) WITH ORDINALITY u (c, n)
          WINDOW w AS (ORDER BY n)) parts
   CROSS JOIN LATERAL (VALUES (three), (CASE WHEN pair ~ '^([0-9]{2}|[^\x01-\x7f]{2})$' THEN pair END)) g (part)
   WHERE position(' ' IN part) = 0
$$;

-- A query for such groups, each of which begins with the character 1 instead of the key and the tilde.
CREATE FUNCTION session_title_query(organization_id text, query text) RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT replace(query, E'\x01', right(organization_id, 8) || '~')::tsquery
$$;

CREATE OR REPLACE FUNCTION index_session_title() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO session_text (session_id, seq, words) VALUES (NEW.id, 0, session_title_words(NEW.organization_id, NEW.title))
  ON CONFLICT ON CONSTRAINT session_text_pkey DO UPDATE SET words = excluded.words;
  RETURN NULL;
END
$$;

UPDATE "session_text" t SET "words" = session_title_words(s."organization_id", s."title")
  FROM "session" s WHERE s."id" = t."session_id" AND t."seq" = 0;
