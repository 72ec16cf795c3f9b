import type { Context, Services } from '../context.ts';
import { DomainError } from '../errors.ts';
import { findSession, getSession } from './find-session.ts';
import { readLogCursor } from './list-log.ts';
import { type EventKind, type LogEntry, readLogs } from './log.ts';
import type { SessionRecord } from './session.ts';

/** Entries read at once for one subscriber. A slow one holds at most these in memory. */
const batchSize = 100;

/** What a subscription asks for. `after`: any cursor of this session's log; left out: from the first entry. */
export interface WatchRequest {
  readonly sessionId: string;
  readonly after?: string | null | undefined;
  readonly messagesOnly: boolean;
  readonly kinds?: readonly EventKind[] | null | undefined;
}

/**
 * The log after a cursor, then as it grows: each entry once and in order, for ever. The bell only says that there may be
 * more; what is delivered is always read from the log, so a lost ring delays but never loses. Ends on `return()` or when
 * the viewer may no longer see the session. NOT_FOUND and BAD_CURSOR before the first entry.
 */
export async function watchLog(
  context: Context,
  watches: Watches,
  request: WatchRequest,
): Promise<AsyncIterableIterator<LogEntry>> {
  const session = await getSession(context, request.sessionId);
  const start = request.after == null ? 0 : readLogCursor(session.id, request.after);
  if (start === null) {
    const message = '"after" must be a cursor of this session’s messages or events.';
    throw new DomainError('BAD_CURSOR', message, [{ path: ['after'], message }]);
  }
  let cursor = start;
  return pull(watches, session.id, async () => {
    if (!(await findSession(context, session.id))) return null;
    const entries = await watches.read(session.id, cursor, request);
    cursor = entries.at(-1)?.seq ?? cursor;
    return { items: entries, more: entries.length === batchSize };
  });
}

/** The session now, then after each change; changes close together may arrive as one. */
export async function watchSession(
  context: Context,
  watches: Watches,
  sessionId: string,
): Promise<AsyncIterableIterator<SessionRecord>> {
  const session = await getSession(context, sessionId);
  let last = '';
  return pull(watches, session.id, async () => {
    const now = await findSession(context, session.id);
    if (!now) return null;
    const text = JSON.stringify(now);
    const changed = text !== last;
    last = text;
    return { items: changed ? [now] : [], more: false };
  });
}

interface Batch<T> {
  readonly items: readonly T[];
  /** There may be more without waiting. */
  readonly more: boolean;
}

// Not an async generator: its return() would wait for the pending next(), and so leak the listener of a client that has
// gone until the next ring. Here return() ends the wait.
function pull<T>(watches: Watches, sessionId: string, read: () => Promise<Batch<T> | null>): AsyncIterableIterator<T> {
  let isRung = true;
  let wake: (() => void) | null = null;
  let isOver = false;
  let buffer: T[] = [];
  let stop: () => void = () => undefined;
  let isListening = false;
  // From the first next() on: who has gone before it may never call return().
  const listen = () => {
    isListening = true;
    stop = watches.listen(sessionId, () => {
      isRung = true;
      wake?.();
    });
  };
  const end = (): IteratorResult<T> => {
    isOver = true;
    stop();
    wake?.();
    return { done: true, value: undefined };
  };
  const next = async (): Promise<IteratorResult<T>> => {
    if (!isListening && !isOver) listen();
    for (;;) {
      if (isOver) return end();
      const item = buffer.shift();
      if (item !== undefined) return { done: false, value: item };
      if (!isRung) await new Promise<void>((resolve) => (wake = resolve));
      wake = null;
      if (isOver) return end();
      // Cleared before the read: a ring during it must cause another.
      isRung = false;
      const batch = await read();
      if (batch === null) return end();
      buffer = [...batch.items];
      if (batch.more) isRung = true;
    }
  };
  // Calls are queued: an iterator may be asked again before it has answered.
  let queue: Promise<unknown> = Promise.resolve();
  return {
    next: () => {
      const result = queue.then(next).catch((error: unknown) => {
        end();
        throw error;
      });
      queue = result.catch(() => undefined);
      return result;
    },
    return: () => Promise.resolve(end()),
    throw: (error: unknown) => {
      end();
      return Promise.reject(error);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** What all subscriptions of one process share: their bells, their reads and the catch-up for rings that were lost. */
export interface Watches {
  /** Calls back on each ring of the session, and on a catch-up that finds that its log grew. */
  listen(sessionId: string, listener: () => void): () => void;
  /** One read serves all who wait at the same place. */
  read(sessionId: string, after: number, request: Pick<WatchRequest, 'messagesOnly' | 'kinds'>): Promise<LogEntry[]>;
  /** Open subscriptions; 0 after every way of leaving. */
  active(): number;
  start(): void;
  stop(): void;
}

/** `catchUpMs`: how late an entry may come whose ring was lost. */
export function createWatches(services: Pick<Services, 'store' | 'bell' | 'log'>, catchUpMs: number = 3_000): Watches {
  const watched = new Map<
    string,
    { listeners: Set<() => void>; head: number; rings: number; ring: () => void; stop: () => void }
  >();
  const reads = new Map<string, Promise<LogEntry[]>>();
  let timer: NodeJS.Timeout | null = null;
  let silence: () => void = () => undefined;

  const catchUp = async () => {
    const ids = [...watched.keys()];
    if (ids.length === 0) return;
    // A deleted organization's sessions grow no more, but whoever watches one must look: it is gone.
    const rows = await services.store.query<{ id: string; next: number }>(
      `select h.session_id as id, case when o.deleted_at is null then h.next_seq else -1 end as next from session_head h
         join session s on s.id = h.session_id join organization o on o.id = s.organization_id
        where h.session_id = any($1::text[])`,
      [ids],
    );
    for (const row of rows) {
      const watch = watched.get(row.id);
      if (!watch || watch.head === row.next) continue;
      watch.head = row.next;
      watch.ring();
    }
  };

  return {
    listen(sessionId, listener) {
      let watch = watched.get(sessionId);
      if (!watch) {
        const listeners = new Set<() => void>();
        const ring = () => {
          created.rings += 1;
          for (const each of listeners) each();
        };
        const created = { listeners, head: 0, rings: 0, ring, stop: services.bell.on(`session:${sessionId}`, ring) };
        watch = created;
        watched.set(sessionId, created);
      }
      const { listeners, stop } = watch;
      // A wrapper of its own, so that the same function can listen twice.
      const own = () => listener();
      listeners.add(own);
      return () => {
        if (!listeners.delete(own) || listeners.size > 0) return;
        stop();
        watched.delete(sessionId);
      };
    },
    read(sessionId, after, request) {
      const kinds = request.kinds ? [...request.kinds].sort() : null;
      // The count of rings is part of the key: a read that began before a ring may not show what the ring was for.
      const rings = watched.get(sessionId)?.rings ?? 0;
      const key = `${sessionId}|${rings}|${after}|${request.messagesOnly}|${kinds?.join(',') ?? ''}`;
      const shared = reads.get(key);
      if (shared !== undefined) return shared;
      const range = {
        after,
        before: null,
        limit: batchSize,
        backward: false,
        messagesOnly: request.messagesOnly,
        kinds,
      };
      const read = readLogs(services.store, [sessionId], range).finally(() => reads.delete(key));
      reads.set(key, read);
      return read;
    },
    active: () => [...watched.values()].reduce((sum, watch) => sum + watch.listeners.size, 0),
    start() {
      const look = () => {
        catchUp().catch((error: unknown) => services.log.warn({ err: error }, 'The catch-up of subscriptions failed.'));
      };
      timer = setInterval(look, catchUpMs).unref();
      silence = services.bell.on('organizations', look);
    },
    stop() {
      if (timer) clearInterval(timer);
      timer = null;
      silence();
    },
  };
}
