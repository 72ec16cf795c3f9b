import type { SessionRecord } from '../../../domain/sessions/session.ts';
import type { SessionStatus, SessionStatusDetail } from '../../../domain/sessions/status.ts';

/** The values of `status_enum` (docs/wire/status.md#values). */
export const v1Statuses = [
  'working',
  'blocked',
  'expired',
  'finished',
  'suspend_requested',
  'suspend_requested_frontend',
  'resume_requested',
  'resume_requested_frontend',
  'resumed',
] as const;
/** See {@link v1Statuses}. */
export type V1Status = (typeof v1Statuses)[number];

/** The fields that decide the value. */
export type StatusFields = Pick<
  SessionRecord,
  'status' | 'statusDetail' | 'request' | 'requestFrom' | 'endedBy' | 'isFresh'
>;

const isFrontend = (session: StatusFields) => session.requestFrom === 'console';
const suspendRequested = (session: StatusFields) =>
  isFrontend(session) ? 'suspend_requested_frontend' : 'suspend_requested';
const resumeRequested = (session: StatusFields) =>
  isFrontend(session) ? 'resume_requested_frontend' : 'resume_requested';

// A detail that belongs to another status tells nothing about a running session, which is working.
const running = {
  working: 'working',
  waiting_for_user: 'blocked',
  waiting_for_approval: 'blocked',
  waiting_for_quota: 'working',
  finished: 'finished',
  inactivity: 'working',
  user_request: 'working',
  usage_limit_exceeded: 'working',
  out_of_credits: 'working',
  out_of_quota: 'working',
  no_quota_allocation: 'working',
  payment_declined: 'working',
  org_usage_limit_exceeded: 'working',
  user_usage_limit_exceeded: 'working',
  total_session_limit_exceeded: 'working',
  error: 'working',
} as const satisfies Record<SessionStatusDetail, V1Status>;

function runningWord(session: StatusFields): V1Status {
  const word = running[session.statusDetail ?? 'working'];
  return word === 'working' && session.isFresh ? 'resumed' : word;
}

const unlessSuspending = (word: (session: StatusFields) => V1Status) => (session: StatusFields) =>
  session.request === 'suspend' ? suspendRequested(session) : word(session);

// One line for each status (docs/wire/status.md#values).
const wireStatuses = {
  new: unlessSuspending(() => 'working'),
  claimed: unlessSuspending(() => 'working'),
  running: unlessSuspending(runningWord),
  suspended: (session) => (session.statusDetail === 'user_request' ? suspendRequested(session) : 'blocked'),
  resuming: resumeRequested,
  exit: (session) => (session.endedBy === 'expired' ? 'expired' : 'finished'),
  error: () => 'blocked',
} satisfies Record<SessionStatus, (session: StatusFields) => V1Status>;

/** The `status_enum` of a session: defined for every session, never null. */
export function statusEnum(session: StatusFields): V1Status {
  return wireStatuses[session.status](session);
}
