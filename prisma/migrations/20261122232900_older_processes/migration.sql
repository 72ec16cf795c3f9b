-- While a service is upgraded, processes of the older version run beside the newer ones, after the migrations. These triggers
-- write what the older ones leave out. On what this version writes none of them runs.

-- A run without them was in nobody's queue.
CREATE FUNCTION fill_run_owner() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  SELECT s.organization_id, coalesce(s.user_id, s.service_user_id, '') INTO NEW.organization_id, NEW.principal_id
    FROM session s WHERE s.id = NEW.session_id;
  -- Without such a session it stays empty.
  NEW.organization_id := coalesce(NEW.organization_id, '');
  NEW.principal_id := coalesce(NEW.principal_id, '');
  RETURN NEW;
END
$$;
CREATE TRIGGER run_owner BEFORE INSERT ON "run"
  FOR EACH ROW WHEN (NEW.organization_id = '') EXECUTE FUNCTION fill_run_owner();

UPDATE "run" r SET "organization_id" = s."organization_id", "principal_id" = coalesce(s."user_id", s."service_user_id", '')
  FROM "session" s WHERE s."id" = r."session_id" AND r."organization_id" = '';

-- The messages of a turn. Without them the worker that resumes the turn would send those of an earlier one.
CREATE FUNCTION keep_turn_messages() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.turn_count > OLD.turn_count THEN
    -- A new turn: what was not delivered before, without the answers to questions of earlier turns.
    NEW.turn_seqs := ARRAY(
      SELECT e.seq FROM log_entry e
       WHERE e.session_id = NEW.session_id AND e.message_type IS NOT NULL AND e.message_type <> 'agent_message'
         AND e.seq > OLD.delivered_seq AND e.seq <= NEW.delivered_seq AND NOT e.seq = ANY(OLD.answered_seqs)
       ORDER BY e.seq);
  ELSE
    -- An answer to a question of the turn, or one that was taken back.
    NEW.turn_seqs := ARRAY(
      SELECT seq FROM unnest(OLD.turn_seqs) AS seq WHERE seq = ANY(NEW.answered_seqs) OR NOT seq = ANY(OLD.answered_seqs)
      UNION
      SELECT seq FROM unnest(NEW.answered_seqs) AS seq WHERE NOT seq = ANY(OLD.answered_seqs)
       ORDER BY seq);
  END IF;
  RETURN NEW;
END
$$;
-- A turn that is resumed delivers nothing, and keeps its messages.
CREATE TRIGGER run_turn_messages BEFORE UPDATE OF "delivered_seq", "answered_seqs" ON "run"
  FOR EACH ROW WHEN (NEW.turn_seqs IS NOT DISTINCT FROM OLD.turn_seqs
    AND (NEW.delivered_seq > OLD.delivered_seq OR (NEW.turn_count = OLD.turn_count AND NEW.answered_seqs IS DISTINCT FROM OLD.answered_seqs)))
  EXECUTE FUNCTION keep_turn_messages();

-- A worker that claims a session makes its workspace, which would otherwise be deleted again.
CREATE FUNCTION note_workspace() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.workspace_deleted_at := NULL;
  NEW.workspace_deletion_requested_at := NULL;
  RETURN NEW;
END
$$;
CREATE TRIGGER run_workspace BEFORE UPDATE OF "home_worker_id" ON "run"
  FOR EACH ROW WHEN (NEW.generation > OLD.generation
    AND (NEW.workspace_deleted_at IS NOT NULL OR NEW.workspace_deletion_requested_at IS NOT NULL))
  EXECUTE FUNCTION note_workspace();

-- A new secret of an incoming webhook ends the one before, also for signatures.
CREATE FUNCTION forget_sealed_webhook_secret() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.webhook_secret_sealed := NULL;
  RETURN NEW;
END
$$;
CREATE TRIGGER automation_webhook_secret BEFORE UPDATE OF "webhook_secret_hash" ON "automation"
  FOR EACH ROW WHEN (NEW.webhook_secret_hash IS DISTINCT FROM OLD.webhook_secret_hash
    AND NEW.webhook_secret_sealed IS NOT DISTINCT FROM OLD.webhook_secret_sealed)
  EXECUTE FUNCTION forget_sealed_webhook_secret();
