-- By hand: partial indexes, one for each state, so that a list of sessions by one state reads only its page.
CREATE INDEX "session_open_pull_request" ON "session"("organization_id", "created_at" DESC, "id" DESC)
  WHERE "pull_requests" @> '[{"state": "open"}]';
CREATE INDEX "session_merged_pull_request" ON "session"("organization_id", "created_at" DESC, "id" DESC)
  WHERE "pull_requests" @> '[{"state": "merged"}]';
CREATE INDEX "session_closed_pull_request" ON "session"("organization_id", "created_at" DESC, "id" DESC)
  WHERE "pull_requests" @> '[{"state": "closed"}]';
