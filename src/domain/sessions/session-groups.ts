import type { SessionRecord } from './session.ts';
import { limitDetails, type SessionStatusDetail, waitingDetails } from './status.ts';

/** The groups of sessions in an inbox. Each session is in one of them. */
export const sessionGroups = ['needs_you', 'working', 'done'] as const;
/** See {@link sessionGroups}. */
export type SessionGroup = (typeof sessionGroups)[number];

const personsDetails: readonly SessionStatusDetail[] = [...waitingDetails, ...limitDetails];

/** The group of a `session` aliased `s`: an expression of the index `session_group`. {@link groupOf} does the same for a session record. */
export const groupColumn =
  'session_group(s.status, s.status_detail, s.ended_by, s.is_archived, s.pending_question_id, s.pull_requests)';

type Grouped = Pick<
  SessionRecord,
  'status' | 'statusDetail' | 'endedBy' | 'isArchived' | 'pendingQuestionId' | 'pullRequests'
>;

/** Returns the group of a session, as the function `session_group` of the database does. */
export function groupOf(session: Grouped): SessionGroup {
  const { status, endedBy, isArchived } = session;
  if (isArchived || endedBy === 'terminated' || endedBy === 'expired') return 'done';
  if (needsSomebody(session)) return 'needs_you';
  return status === 'exit' || status === 'suspended' ? 'done' : 'working';
}

function needsSomebody({ status, statusDetail, pendingQuestionId, pullRequests }: Grouped): boolean {
  if (status === 'error' || pendingQuestionId !== null) return true;
  if (statusDetail !== null && personsDetails.includes(statusDetail)) return true;
  const isStopped = status === 'exit' || status === 'suspended';
  return isStopped && pullRequests.some(({ state }) => state === 'open');
}
