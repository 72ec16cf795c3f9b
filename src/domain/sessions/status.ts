import { DomainError } from '../errors.ts';

/** Where a session is (wire-facts 3; complete). */
export const sessionStatuses = ['new', 'claimed', 'running', 'exit', 'error', 'suspended', 'resuming'] as const;
/** See {@link sessionStatuses}. */
export type SessionStatus = (typeof sessionStatuses)[number];

/** Why it is there: the first three with `running`, `finished` with `exit`, the others with `suspended`. */
export const sessionStatusDetails = [
  'working',
  'waiting_for_user',
  'waiting_for_approval',
  'finished',
  'inactivity',
  'user_request',
  'usage_limit_exceeded',
  'out_of_credits',
  'out_of_quota',
  'no_quota_allocation',
  'payment_declined',
  'org_usage_limit_exceeded',
  'user_usage_limit_exceeded',
  'total_session_limit_exceeded',
  'error',
] as const;
/** See {@link sessionStatusDetails}. */
export type SessionStatusDetail = (typeof sessionStatusDetails)[number];

const runningDetails: ReadonlySet<SessionStatusDetail> = new Set([
  'working',
  'waiting_for_user',
  'waiting_for_approval',
]);

/** The one status that goes with a detail. */
export function statusOfDetail(detail: SessionStatusDetail): SessionStatus {
  if (runningDetails.has(detail)) return 'running';
  return detail === 'finished' ? 'exit' : 'suspended';
}

/** The details of a session whose agent waits for a user's answer. */
export const waitingDetails = ['waiting_for_user', 'waiting_for_approval'] as const satisfies SessionStatusDetail[];

/** How a session that is over came to its end. */
export const sessionEnds = ['finished', 'terminated', 'expired'] as const;
/** See {@link sessionEnds}. */
export type SessionEnd = (typeof sessionEnds)[number];

/** The transitions of pinned 3. Any other is an error, not an overwrite. */
const transitions = {
  new: ['claimed', 'exit', 'suspended'],
  claimed: ['running', 'new', 'exit', 'error'],
  running: ['exit', 'suspended', 'error', 'claimed'],
  exit: ['resuming'],
  error: ['resuming'],
  suspended: ['resuming', 'exit'],
  resuming: ['running', 'suspended', 'exit', 'error'],
} as const satisfies Record<SessionStatus, readonly SessionStatus[]>;

/** Whether a session may go from one status to another. Staying is always allowed. */
export function mayBecome(from: SessionStatus, to: SessionStatus): boolean {
  return from === to || (transitions[from] as readonly SessionStatus[]).includes(to);
}

/** INVALID_STATE unless {@link mayBecome}. */
export function requireTransition(from: SessionStatus, to: SessionStatus): void {
  if (!mayBecome(from, to))
    throw new DomainError('INVALID_STATE', `A session in status "${from}" cannot become "${to}".`);
}
