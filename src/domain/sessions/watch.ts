import { permissionFor } from '../../auth/permissions.ts';
import { organizationsWith, type Viewer } from '../../auth/viewer.ts';
import { type ChangeWatches, createChangeWatches } from '../changes/change-watches.ts';
import type { Context, Services } from '../context.ts';
import { findSession, getSession } from './find-session.ts';
import type { LogEntry } from './log.ts';
import { batchSizes, upTo } from './log-batches.ts';
import { createLogTailer, type LogTailer } from './log-tailer.ts';
import { pull } from './pull.ts';
import { readLogs } from './read-logs.ts';
import type { SessionRecord } from './session.ts';
import { startWatch, type WatchRequest, type WatchStart } from './start-watch.ts';

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
  return watchLogFrom(context, watches, await startWatch(context, request));
}

/** {@link watchLog} from where it was found to begin. */
export function watchLogFrom(context: Context, watches: Watches, start: WatchStart): AsyncIterableIterator<LogEntry> {
  const { sessionId } = start;
  let cursor = start.after;
  const listen = (listener: () => void) => watches.listen(sessionId, listener);
  let limit: number = batchSizes.first;
  return pull(listen, async () => {
    const { entries, more } = await watches.read(sessionId, cursor, limit, start);
    // After the read: permission that was lost before an entry was written must stop that entry.
    if (!(await watches.see(context, sessionId))) return null;
    cursor = entries.at(-1)?.seq ?? cursor;
    if (more) limit = entries.length < limit ? entries.length : Math.min(limit * 2, batchSizes.max);
    return { items: entries, more };
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
  const listen = (listener: () => void) => watches.listen(session.id, listener);
  return pull(listen, async () => {
    const now = await watches.see(context, session.id);
    if (!now) return null;
    const text = JSON.stringify(now);
    const changed = text !== last;
    last = text;
    return { items: changed ? [now] : [], more: false };
  });
}

/** What all subscriptions of one process share: their bells, their reads and the catch-up for rings that were lost. */
export interface Watches {
  /** Calls back on each ring of the session, and on a catch-up that finds that its log grew. */
  listen(sessionId: string, listener: () => void): () => void;
  /** One read serves all who wait at the same place. `more`: there may be more without waiting. */
  read(
    sessionId: string,
    after: number,
    limit: number,
    start: Pick<WatchStart, 'messagesOnly' | 'kinds' | 'kindsKey'>,
  ): Promise<{ readonly entries: readonly LogEntry[]; readonly more: boolean }>;
  /** The session, or null when the viewer may not see it (any more). One read serves all who may see the same. */
  see(context: Context, sessionId: string): Promise<SessionRecord | null>;
  /** The logs again, for those who are told what comes and do not ask for it. */
  readonly tailer: LogTailer;
  /** The same for those who follow the sessions of organizations. */
  readonly changes: ChangeWatches;
  /** Open subscriptions; 0 after every way of leaving. */
  active(): number;
  start(): void;
  stop(): void;
}

/** `catchUpMs`: how late an entry may come whose ring was lost. */
export function createWatches(
  services: Pick<Services, 'store' | 'notifier' | 'log' | 'liveViewers'>,
  catchUpMs: number = 3_000,
): Watches {
  const watched = new Map<
    string,
    { listeners: Set<() => void>; head: number; notificationCount: number; notify: () => void; stop: () => void }
  >();
  const reads = new Map<string, Promise<{ entries: readonly LogEntry[]; more: boolean }>>();
  const sessionReads = new Map<string, Promise<SessionRecord | null>>();
  /** What each viewer may see, as text. A viewer never changes: another one takes its place. */
  const scopes = new WeakMap<Viewer, string>();
  const changes = createChangeWatches(services);
  let timer: NodeJS.Timeout | null = null;
  let unsubscribe: () => void = () => undefined;

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
      watch.notify();
    }
  };

  const watches: Watches = {
    changes,
    tailer: createLogTailer({
      store: services.store,
      settled: () => services.liveViewers.settled(),
      listen: (id, listener) => watches.listen(id, listener),
    }),
    listen(sessionId, listener) {
      let watch = watched.get(sessionId);
      if (!watch) {
        const listeners = new Set<() => void>();
        const notify = () => {
          created.notificationCount += 1;
          for (const each of listeners) each();
        };
        const created = {
          listeners,
          head: 0,
          notificationCount: 0,
          notify,
          stop: services.notifier.subscribe(`session:${sessionId}`, notify),
        };
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
    read(sessionId, after, limit, { messagesOnly, kinds, kindsKey }) {
      // The count of rings is part of the key: a read that began before a ring may not show what the ring was for.
      const notificationCount = watched.get(sessionId)?.notificationCount ?? 0;
      const key = `${sessionId}|${notificationCount}|${after}|${limit}|${kindsKey}`;
      return shared(reads, key, async () => {
        const range = { after, before: null, limit, backward: false, messagesOnly, kinds };
        const [found = []] = await readLogs(services.store, [sessionId], range);
        const entries = upTo(found);
        return { entries, more: found.length === limit || entries.length < found.length };
      });
    },
    async see(context, sessionId) {
      for (;;) {
        const { viewer } = context;
        const scope = scopes.get(viewer) ?? JSON.stringify(organizationsWith(viewer, permissionFor.viewSession));
        scopes.set(viewer, scope);
        const notificationCount = watched.get(sessionId)?.notificationCount ?? 0;
        const found = await shared(sessionReads, `${sessionId}|${notificationCount}|${scope}`, () =>
          findSession(context, sessionId),
        );
        await services.liveViewers.settled();
        // Another viewer has taken its place, which may see less.
        if (context.viewer === viewer) return found;
      }
    },
    active() {
      const { readers, logs } = watches.tailer.count();
      const listeners = [...watched.values()].reduce((sum, watch) => sum + watch.listeners.size, 0);
      // A feed listens once for all of its readers.
      return listeners - logs + readers + changes.active();
    },
    start() {
      const runCatchUp = () => {
        Promise.all([catchUp(), changes.catchUp()]).catch((error: unknown) =>
          services.log.warn({ err: error }, 'The catch-up of subscriptions failed.'),
        );
      };
      timer = setInterval(runCatchUp, catchUpMs).unref();
      unsubscribe = services.notifier.subscribe('organizations', runCatchUp);
    },
    stop() {
      if (timer) clearInterval(timer);
      timer = null;
      unsubscribe();
    },
  };
  return watches;
}

/** How long others join a read that has begun: one that is stuck must not hold up those who come later. */
const joinMs = 1_000;

/** Returns a read that is under way for a key, if it is young, or begins one. */
function shared<T>(reads: Map<string, Promise<T>>, key: string, read: () => Promise<T>): Promise<T> {
  const cached = reads.get(key);
  if (cached !== undefined) return cached;
  const forget = () => {
    clearTimeout(timer);
    if (reads.get(key) === begun) reads.delete(key);
  };
  const begun = read().finally(forget);
  reads.set(key, begun);
  const timer = setTimeout(forget, joinMs).unref();
  return begun;
}
