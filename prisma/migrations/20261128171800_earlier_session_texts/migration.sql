-- The words of what was written before there was a search. Without a lock on the log: triggers index what is written meanwhile.
INSERT INTO "session_text" ("session_id", "seq", "words")
SELECT s."id", 0, session_words(s."organization_id", s."title") FROM "session" s
ON CONFLICT DO NOTHING;

INSERT INTO "session_text" ("session_id", "seq", "words")
SELECT e."session_id", e."seq", session_words(s."organization_id", coalesce(c."body", e."body", e."data"->>'title', ''))
  FROM "log_entry" e JOIN "session" s ON s."id" = e."session_id"
  LEFT JOIN "message_change" c ON c."session_id" = e."session_id" AND c."seq" = e."seq"
 WHERE (e."message_type" IS NOT NULL OR (e."kind" = 'TOOL_CALL' AND e."data"->>'status' IN ('completed', 'failed')))
   AND c."is_withdrawn" IS NOT TRUE
ON CONFLICT DO NOTHING;

DO $$ BEGIN IF EXISTS (SELECT FROM "session_text") THEN ANALYZE "session_text"; END IF; END $$;
