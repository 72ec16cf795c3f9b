import type { Entry } from './entry.ts';

/**
 * Returns whether the messages of the last turn can be sent again: it was stopped or cancelled, or the session failed in it.
 * The end of a turn in which the session failed is not in the log.
 */
export function canRetry(entries: readonly Entry[], status: string): boolean {
  const last = entries.findLast((entry) => entry.__typename === 'TurnEvent');
  if (last === undefined) return false;
  return status === 'ERROR' || (last.phase === 'STOPPED' && last.stopReason !== 'END_TURN');
}
