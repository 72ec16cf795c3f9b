-- The group of a session in an inbox, as domain/sessions/session-groups.ts describes it.
CREATE FUNCTION session_group(
  status text, status_detail text, ended_by text, is_archived boolean, pending_question_id text, pull_requests jsonb
) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN is_archived OR coalesce(ended_by IN ('terminated', 'expired'), false) THEN 'done'
    WHEN status = 'error' OR pending_question_id IS NOT NULL OR coalesce(status_detail IN (
           'waiting_for_user', 'waiting_for_approval', 'usage_limit_exceeded', 'out_of_credits', 'out_of_quota', 'no_quota_allocation',
           'payment_declined', 'org_usage_limit_exceeded', 'user_usage_limit_exceeded', 'total_session_limit_exceeded', 'error'), false)
      OR (status IN ('exit', 'suspended') AND pull_requests @> '[{"state": "open"}]') THEN 'needs_you'
    WHEN status IN ('exit', 'suspended') THEN 'done'
    ELSE 'working'
  END
$$;

CREATE INDEX "session_group" ON "session"("organization_id", session_group("status", "status_detail", "ended_by", "is_archived",
  "pending_question_id", "pull_requests"), "created_at" DESC, "id" DESC);
