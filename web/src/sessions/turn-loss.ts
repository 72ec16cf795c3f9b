/** A session that may have an open turn. */
export interface Interruptible {
  readonly status: string;
  readonly statusDetail: string | null | undefined;
  readonly pendingQuestion: unknown;
}

/** The part of a turn that a suspension ends. */
export type Loss = 'question' | 'work';

/** Returns the number of sessions whose turn a suspension ends. */
export const countLosses = (sessions: readonly Interruptible[]): number =>
  sessions.filter((session) => lossOf(session) !== null).length;

/** Returns what suspending a session ends: an open question, the work of a turn, or nothing (null). */
export function lossOf({ status, statusDetail, pendingQuestion }: Interruptible): Loss | null {
  if (status !== 'RUNNING') return null;
  if (pendingQuestion != null) return 'question';
  return statusDetail === 'FINISHED' || statusDetail === 'WAITING_FOR_USER' ? null : 'work';
}
