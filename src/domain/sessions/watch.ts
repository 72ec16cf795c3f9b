import { permissionFor } from '../../auth/permissions.ts';
import { organizationsWith, type Viewer } from '../../auth/viewer.ts';
import type { Context, Services } from '../context.ts';
import { DomainError } from '../errors.ts';
import { findSession, getSession } from './find-session.ts';
import { readLogCursor } from './list-log.ts';
import { type EventKind, type LogEntry, readLogs } from './log.ts';
import { createOrganizationWatches, type OrganizationWatches } from './organization-watches.ts';
import { pull } from './pull.ts';
import type { SessionRecord } from './session.ts';

/** Entries read at once for one subscriber: few at first, and more while they are short. */
const batchSizes = { first: 10, most: 100 } as const;
/** Characters of one batch, though one entry may have more: what a slow subscriber holds in memory. */
const mostCharacters = 512 * 1_024;

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
  const listen = (listener: () => void) => watches.listen(session.id, listener);
  let limit: number = batchSizes.first;
  return pull(listen, async () => {
    if (!(await watches.see(context, session.id))) return null;
    const { entries, more } = await watches.read(session.id, cursor, limit, request);
    cursor = entries.at(-1)?.seq ?? cursor;
    if (more) limit = entries.length < limit ? entries.length : Math.min(limit * 2, batchSizes.most);
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
    request: Pick<WatchRequest, 'messagesOnly' | 'kinds'>,
  ): Promise<{ readonly entries: readonly LogEntry[]; readonly more: boolean }>;
  /** The session, or null when the viewer may not see it (any more). One read serves all who may see the same. */
  see(context: Context, sessionId: string): Promise<SessionRecord | null>;
  /** The same for those who follow an organization's sessions. */
  readonly organizations: OrganizationWatches;
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
  const reads = new Map<string, Promise<{ entries: LogEntry[]; more: boolean }>>();
  const looks = new Map<string, Promise<SessionRecord | null>>();
  /** What each viewer may see, as text. A viewer never changes: another one takes its place. */
  const scopes = new WeakMap<Viewer, string>();
  const organizations = createOrganizationWatches(services);
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
    organizations,
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
    read(sessionId, after, limit, request) {
      const kinds = request.kinds ? [...request.kinds].sort() : null;
      const { messagesOnly } = request;
      // The count of rings is part of the key: a read that began before a ring may not show what the ring was for.
      const rings = watched.get(sessionId)?.rings ?? 0;
      const key = `${sessionId}|${rings}|${after}|${limit}|${messagesOnly}|${kinds?.join(',') ?? ''}`;
      return shared(reads, key, async () => {
        const range = { after, before: null, limit, backward: false, messagesOnly, kinds };
        const found = await readLogs(services.store, [sessionId], range);
        const entries = upTo(found, mostCharacters);
        return { entries, more: found.length === limit || entries.length < found.length };
      });
    },
    see(context, sessionId) {
      const { viewer } = context;
      const scope = scopes.get(viewer) ?? JSON.stringify(organizationsWith(viewer, permissionFor.viewSession));
      scopes.set(viewer, scope);
      const rings = watched.get(sessionId)?.rings ?? 0;
      return shared(looks, `${sessionId}|${rings}|${scope}`, () => findSession(context, sessionId));
    },
    active: () => [...watched.values()].reduce((sum, watch) => sum + watch.listeners.size, organizations.active()),
    start() {
      const look = () => {
        Promise.all([catchUp(), organizations.catchUp()]).catch((error: unknown) =>
          services.log.warn({ err: error }, 'The catch-up of subscriptions failed.'),
        );
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

/** What is being read under a key already, or a new read. */
function shared<T>(reads: Map<string, Promise<T>>, key: string, read: () => Promise<T>): Promise<T> {
  const known = reads.get(key);
  if (known !== undefined) return known;
  const begun = read().finally(() => reads.delete(key));
  reads.set(key, begun);
  return begun;
}

/** As many entries as have so many characters in all, at least one. */
function upTo(entries: LogEntry[], most: number): LogEntry[] {
  let characters = 0;
  for (const [n, { body, data }] of entries.entries()) {
    characters += (body?.length ?? 0) + (data === null ? 0 : JSON.stringify(data).length);
    if (characters > most && n > 0) return entries.slice(0, n);
  }
  return entries;
}
