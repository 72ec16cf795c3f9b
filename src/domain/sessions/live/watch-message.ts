/**
 * The messages of a process to all workers about the sessions that it watches.
 * - `watch`: it watches these sessions, for the next {@link watchMs}.
 * - `again`: it watches these sessions, and has lost parts of their drafts.
 * - `unwatch`: it no longer watches these sessions.
 * - `who`: a worker has started and does not know which sessions are watched.
 */
export const watchActs = ['watch', 'again', 'unwatch', 'who'] as const;
/** See {@link watchActs}. */
export type WatchAct = (typeof watchActs)[number];

/** Time in ms for which a session counts as watched without a further message. */
export const watchMs = 15_000;
/** Time in ms after which a process repeats which sessions it watches, and a worker which drafts are open. */
export const renewMs = 5_000;
/** Maximum number of sessions in one message, which must fit in a broadcast. */
const maxIds = 100;

/** The content of a message. */
export interface WatchMessage {
  readonly processId: string;
  /** Unprefixed. */
  readonly sessionIds: readonly string[];
}

/** Returns the payloads that name these sessions. */
export function* writeWatchMessages({ processId, sessionIds }: WatchMessage): Generator<string> {
  for (let n = 0; n < sessionIds.length; n += maxIds) yield `${processId} ${sessionIds.slice(n, n + maxIds).join(',')}`;
}

/** Reads a payload; null if it is malformed. */
export function readWatchMessage(payload: string): WatchMessage | null {
  const [processId = '', ids = '', ...others] = payload.split(' ');
  const sessionIds = ids.split(',');
  const isWellFormed = others.length === 0 && sessionIds.every((id) => /^[0-9a-f]{32}$/.test(id));
  return isWellFormed && /^[0-9a-f-]{1,64}$/.test(processId) ? { processId, sessionIds } : null;
}
