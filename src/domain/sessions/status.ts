import { DomainError } from '../../common/errors.ts';

/** The complete list of session statuses (docs/wire/status.md#values). */
export const sessionStatuses = ['new', 'claimed', 'running', 'exit', 'error', 'suspended', 'resuming'] as const;
/** See {@link sessionStatuses}. */
export type SessionStatus = (typeof sessionStatuses)[number];

/** The reasons for a suspension that ends only if a person changes a limit or a budget. */
export const limitDetails = [
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

/** The reason for a status: the first four with `running`, `finished` with `exit`, the others with `suspended`. */
export const sessionStatusDetails = [
  'working',
  'waiting_for_user',
  'waiting_for_approval',
  'waiting_for_quota',
  'finished',
  'inactivity',
  'user_request',
  ...limitDetails,
] as const;
/** See {@link sessionStatusDetails}. */
export type SessionStatusDetail = (typeof sessionStatusDetails)[number];

/** The details without those of our own, as REST shows them. */
export const publishedStatusDetails = sessionStatusDetails.filter((detail) => detail !== 'waiting_for_quota');

/** The detail that REST shows: a session that waits for its provider is working. */
export function publishedDetailOf(detail: SessionStatusDetail | null): (typeof publishedStatusDetails)[number] | null {
  return detail === 'waiting_for_quota' ? 'working' : detail;
}

const runningDetails: ReadonlySet<SessionStatusDetail> = new Set([
  'working',
  'waiting_for_user',
  'waiting_for_approval',
  'waiting_for_quota',
]);

/** Returns the one status that a detail belongs to. */
export function statusOfDetail(detail: SessionStatusDetail): SessionStatus {
  if (runningDetails.has(detail)) return 'running';
  return detail === 'finished' ? 'exit' : 'suspended';
}

/** The details of a session whose agent waits for a user's answer. */
export const waitingDetails = ['waiting_for_user', 'waiting_for_approval'] as const satisfies SessionStatusDetail[];

/** The ways in which a session that is over can have ended. */
export const sessionEnds = ['finished', 'terminated', 'expired'] as const;
/** See {@link sessionEnds}. */
export type SessionEnd = (typeof sessionEnds)[number];

/** The allowed transitions (docs/wire/status.md#transitions). Any other is an error, not an overwrite. */
const transitions = {
  new: ['claimed', 'exit', 'suspended'],
  claimed: ['running', 'new', 'exit', 'error'],
  running: ['exit', 'suspended', 'error', 'claimed'],
  exit: ['resuming'],
  error: ['resuming'],
  suspended: ['resuming', 'exit'],
  resuming: ['running', 'suspended', 'exit', 'error'],
} as const satisfies Record<SessionStatus, readonly SessionStatus[]>;

/** Tells if a session may change from one status to another. It may always keep its status. */
export function mayBecome(from: SessionStatus, to: SessionStatus): boolean {
  return from === to || (transitions[from] as readonly SessionStatus[]).includes(to);
}

/** Throws INVALID_STATE unless {@link mayBecome} allows the transition. */
export function requireTransition(from: SessionStatus, to: SessionStatus): void {
  if (!mayBecome(from, to))
    throw new DomainError('INVALID_STATE', `A session in status "${from}" cannot become "${to}".`);
}
