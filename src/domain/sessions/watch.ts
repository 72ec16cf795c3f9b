import { pull } from '../../realtime/pull.ts';
import type { Tailer } from '../../realtime/tailer.ts';
import type { Context } from '../context.ts';
import { getSession } from './find-session.ts';
import type { LogEntry } from './log.ts';
import { mayViewBatch, type SessionLogSource } from './log-source.ts';
import type { SessionRecord } from './session.ts';
import { startWatch, type WatchRequest, type WatchStart } from './start-watch.ts';
import { type SessionStateSource, sessionState } from './state-source.ts';

/** The tailer of this process, and what it reads of sessions. */
export interface SessionWatches {
  readonly tailer: Tailer;
  readonly sessionLogs: SessionLogSource;
  readonly sessionStates: SessionStateSource;
}

/**
 * Returns the log after a cursor, then new entries as they are written: each entry once and in order. Ends on `return()` or when
 * the viewer may no longer see the session. NOT_FOUND and BAD_CURSOR before the first entry.
 */
export async function watchLog(
  context: Context,
  watches: SessionWatches,
  request: WatchRequest,
): Promise<AsyncIterableIterator<LogEntry>> {
  return watchLogFrom(context, watches, await startWatch(context, request));
}

/** {@link watchLog} from a known start. */
export function watchLogFrom(
  context: Context,
  { tailer, sessionLogs }: SessionWatches,
  { log, after }: WatchStart,
): AsyncIterableIterator<LogEntry> {
  return pull(tailer, {
    source: sessionLogs,
    log,
    cursor: after,
    mayTake: (batch) => mayViewBatch(context.viewer, batch),
    select: (batch) => batch,
  });
}

/** Returns the session in its current state, then after each change; changes close together may arrive as one. */
export async function watchSession(
  context: Context,
  { tailer, sessionStates }: SessionWatches,
  sessionId: string,
): Promise<AsyncIterableIterator<SessionRecord>> {
  const { id } = await getSession(context, sessionId);
  let last = '';
  return pull(tailer, {
    source: sessionStates,
    log: sessionState(context.viewer, id),
    cursor: null,
    // Another viewer may see less, or more.
    currentLog: () => sessionState(context.viewer, id),
    mayTake: () => true,
    select({ items }) {
      const text = JSON.stringify(items[0]);
      const isChanged = text !== last;
      last = text;
      return { items: isChanged ? items : [] };
    },
  });
}
