-- The trigger for older processes takes each new member of answered_seqs for an answer to a question of the turn. A message that was
-- withdrawn, and the messages of a turn that is retried, change the version of the inbox, which older processes do not know.
DROP TRIGGER run_turn_messages ON "run";
CREATE TRIGGER run_turn_messages BEFORE UPDATE OF "delivered_seq", "answered_seqs" ON "run"
  FOR EACH ROW WHEN (NEW.inbox_version = OLD.inbox_version AND NEW.turn_seqs IS NOT DISTINCT FROM OLD.turn_seqs
    AND (NEW.delivered_seq > OLD.delivered_seq OR (NEW.turn_count = OLD.turn_count AND NEW.answered_seqs IS DISTINCT FROM OLD.answered_seqs)))
  EXECUTE FUNCTION keep_turn_messages();

-- Messages that were withdrawn before this migration belong to no turn.
UPDATE "run" r SET "inbox_version" = r."inbox_version" + 1, "turn_seqs" = ARRAY(
  SELECT t.seq FROM unnest(r."turn_seqs") AS t(seq)
   WHERE NOT EXISTS (SELECT 1 FROM "message_change" c WHERE c."session_id" = r."session_id" AND c."seq" = t.seq AND c."is_withdrawn"))
 WHERE EXISTS (SELECT 1 FROM "message_change" c WHERE c."session_id" = r."session_id" AND c."is_withdrawn");
