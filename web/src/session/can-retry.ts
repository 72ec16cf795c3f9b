import type { Entry } from './entry.ts';

/**
 * Returns whether messages can be sent again: those of the last turn if it was stopped or cancelled, or the session failed in
 * it, or those that wait if the session failed before their turn (`hasQueued`). The end of a turn in which the session failed
 * is not in the log.
 */
export function canRetry(entries: readonly Entry[], status: string, hasQueued: boolean): boolean {
  const last = lastTurn(entries);
  if (last === undefined) return status === 'ERROR' && hasQueued;
  return status === 'ERROR' || (last.phase === 'STOPPED' && last.stopReason !== 'END_TURN');
}

/** Returns true if a retry sends only the messages that wait: the session failed before their turn. */
export function isBeforeTurn(entries: readonly Entry[], status: string, hasQueued: boolean): boolean {
  return status === 'ERROR' && hasQueued && lastTurn(entries)?.phase !== 'STARTED';
}

/** Returns true if the user has written to a session after its last turn was stopped: the message waits for a worker. */
export function hasNewMessage(entries: readonly Entry[]): boolean {
  const end = entries.findLastIndex(({ __typename }) => __typename === 'TurnEvent');
  const turn = entries[end];
  if (turn?.__typename !== 'TurnEvent' || turn.phase !== 'STOPPED') return false;
  const withdrawn = new Set(
    entries.flatMap((entry) =>
      entry.__typename === 'MessageChangedEvent' && entry.change === 'WITHDRAWN' && entry.message
        ? [entry.message.id]
        : [],
    ),
  );
  return entries
    .slice(end)
    .some(
      (entry) => entry.__typename === 'SessionMessage' && entry.type === 'USER_MESSAGE' && !withdrawn.has(entry.id),
    );
}

const lastTurn = (entries: readonly Entry[]) => entries.findLast((entry) => entry.__typename === 'TurnEvent');
