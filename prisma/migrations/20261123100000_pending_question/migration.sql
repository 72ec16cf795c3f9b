-- AlterTable
ALTER TABLE "session" ADD COLUMN     "pending_question_id" TEXT;

-- The question that a session waits with: its last one, unless a user has written since.
UPDATE "session" s SET "pending_question_id" = q."id"
  FROM "run" r CROSS JOIN LATERAL (
         SELECT e."id", e."seq" FROM "log_entry" e
          WHERE e."session_id" = r."session_id" AND e."kind" = 'QUESTION' ORDER BY e."seq" DESC LIMIT 1) q
 WHERE r."session_id" = s."id" AND s."ended_by" IS NULL AND s."status" IN ('running', 'suspended', 'resuming', 'claimed')
   AND (r."is_turn_open" OR s."status_detail" IN ('waiting_for_user', 'inactivity'))
   AND NOT EXISTS (SELECT FROM "log_entry" m
                    WHERE m."session_id" = s."id" AND m."message_type" IS NOT NULL
                      AND m."message_type" <> 'agent_message' AND m."seq" > q."seq");
