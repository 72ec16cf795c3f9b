import type { Entry } from './entry.ts';

/**
 * Returns whether messages can be sent again: those of the last turn if it was stopped or cancelled, or the session failed in
 * it, or those that wait if the session failed before their turn (`hasQueued`). The end of a turn in which the session failed
 * is not in the log.
 */
export function canRetry(entries: readonly Entry[], status: string, hasQueued: boolean): boolean {
  if (isBeforeTurn(entries, status, hasQueued)) return true;
  const last = lastTurn(entries);
  if (last === undefined) return false;
  return status === 'ERROR' || (last.phase === 'STOPPED' && last.stopReason !== 'END_TURN');
}

/** Returns true if a retry sends only the messages that wait: the session failed, or was stopped, before their turn. */
export function isBeforeTurn(entries: readonly Entry[], status: string, hasQueued: boolean): boolean {
  if (!hasQueued) return false;
  const last = lastTurn(entries);
  if (status === 'ERROR') return last?.phase !== 'STARTED';
  const isOver = last === undefined || (last.phase === 'STOPPED' && last.stopReason === 'END_TURN');
  return status === 'RUNNING' && isOver && isStop(lastEnd(entries)) && !hasNewMessage(entries);
}

/** Returns true if the user has written to a session after its last stop: the message waits for a worker. */
export function hasNewMessage(entries: readonly Entry[]): boolean {
  const last = lastEnd(entries);
  const isStopped = isStop(last) || (last?.__typename === 'TurnEvent' && last.phase === 'STOPPED');
  if (last === undefined || !isStopped) return false;
  const end = entries.lastIndexOf(last);
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

/** Returns true for the notice of a stop before a turn. */
const isStop = (entry: Entry | undefined): boolean => entry?.__typename === 'NoticeEvent' && entry.isStop;

/** Returns the last event of a turn, or the notice of a stop after it. */
const lastEnd = (entries: readonly Entry[]) =>
  entries.findLast((entry) => entry.__typename === 'TurnEvent' || isStop(entry));
