-- AlterTable
ALTER TABLE "run" ADD COLUMN     "turn_seqs" INTEGER[] DEFAULT ARRAY[]::INTEGER[];

-- What an open turn was sent with, and the answers to its questions, before this was recorded.
UPDATE "run" r
   SET "turn_seqs" = ARRAY(SELECT e."seq" FROM "log_entry" e
                            WHERE e."session_id" = r."session_id" AND e."message_type" IS NOT NULL
                              AND e."message_type" <> 'agent_message' AND e."seq" > r."turn_after_seq"
                              AND (e."seq" <= r."delivered_seq" OR e."seq" = ANY(r."answered_seqs"))
                            ORDER BY e."seq")
 WHERE r."is_turn_open";

-- A user who suspends a session ends its turn.
UPDATE "run" r SET "is_turn_open" = false
  FROM "session" s
 WHERE s."id" = r."session_id" AND r."is_turn_open" AND s."status" = 'suspended' AND s."status_detail" = 'user_request';
