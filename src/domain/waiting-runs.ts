/**
 * SQL condition: a session `s` whose run is queued waits for a worker. Without a pending question, a session that waits for its user is
 * queued by a message after a stop, and keeps its status until a worker has it.
 */
export const waitsForWorker = `(s.status in ('new', 'resuming')
  or s.status = 'running' and s.status_detail in ('waiting_for_user', 'waiting_for_approval') and s.pending_question_id is null)`;
