import { permissionFor } from '../../auth/permissions.ts';
import { hasPermission, type Viewer } from '../../auth/viewer.ts';
import type { LogCheck, LogSource } from '../../realtime/log-source.ts';
import type { SharedBatch } from '../../realtime/push.ts';
import type { Services } from '../context.ts';
import type { LogEntry } from './log.ts';
import { type EntryKinds, readLogsAt } from './read-logs-at.ts';
import type { TailedSession } from './session-check.ts';

/** The log of a session, or the entries of some kinds in it. */
export interface SessionLog extends TailedSession, EntryKinds {
  /** The same for all logs with the same kinds of entries. */
  readonly kindsKey: string;
}

/** Entries of a session's log, and where the session belongs. */
export interface LogBatch extends SharedBatch<number> {
  readonly items: readonly LogEntry[];
  readonly enterpriseId: string;
  readonly organizationId: string;
}

/** Reads the logs of sessions; the cursor is the number of the last entry. */
export type SessionLogSource = LogSource<SessionLog, number, LogBatch>;

/** The log of a session by its unprefixed id, with the kinds of entries to read. */
export function sessionLog(sessionId: string, { messagesOnly, kinds }: EntryKinds): SessionLog {
  const sortedKinds = kinds && [...new Set(kinds)].sort();
  const kindsKey = `${messagesOnly}|${sortedKinds?.join(',') ?? ''}`;
  const topics = [`session:${sessionId}`] as const;
  return { key: `${sessionId}|${kindsKey}`, topics, sessionId, messagesOnly, kinds: sortedKinds, kindsKey };
}

/** Returns whether a viewer may see the session that a batch is of. */
export function mayViewBatch(viewer: Viewer, { enterpriseId, organizationId }: LogBatch): boolean {
  return viewer.enterpriseId === enterpriseId && hasPermission(viewer, permissionFor.viewSession, organizationId);
}

/**
 * Reads the logs of many sessions in one statement. In it, again for each batch, is where the session belongs, which decides who
 * may see it.
 */
export function createSessionLogSource(
  { store, metrics, now }: Pick<Services, 'store' | 'metrics' | 'now'>,
  check: LogCheck<TailedSession>,
): SessionLogSource {
  return {
    limits: { first: 10, max: 100 },
    maxRequests: 100,
    maxReads: 2,
    stuckMs: 1_000,
    check,
    cursorKey: String,
    groupKey: ({ kindsKey }) => kindsKey,
    gapMs: () => 0,
    async read(requests) {
      const [first] = requests;
      if (first === undefined) return [];
      const positions = requests.map(({ log, cursor, limit }) => ({ sessionId: log.sessionId, after: cursor, limit }));
      const found = await readLogsAt(store, positions, first.log);
      return found.map((each, n) => {
        const request = requests[n];
        if (each === null || request === undefined) return null;
        const { enterpriseId, organizationId, entries } = each;
        const items = boundedBatch(entries);
        // A subscriber that catches up reads many entries, whose age says nothing about notifications.
        const [only] = items;
        if (only && items.length === 1) metrics.notificationDelay.observe(secondsSince(only.createdAt, now()));
        return {
          items,
          cursor: items.at(-1)?.seq ?? request.cursor,
          hasMore: entries.length === request.limit || items.length < entries.length,
          results: new Map(),
          enterpriseId,
          organizationId,
        };
      });
    },
  };
}

/** Maximum number of characters of one batch, which a slow subscriber holds in memory; a single entry may have more. */
const maxCharacters = 512 * 1_024;

/** Returns as many entries from the first as make a batch, at least one. */
function boundedBatch(entries: readonly LogEntry[]): readonly LogEntry[] {
  let characters = 0;
  for (const [n, { body, data }] of entries.entries()) {
    characters += (body?.length ?? 0) + (data === null ? 0 : JSON.stringify(data).length);
    if (characters > maxCharacters && n > 0) return entries.slice(0, n);
  }
  return entries;
}

const secondsSince = (time: Date, now: Date): number => Math.max(0, now.getTime() - time.getTime()) / 1_000;
