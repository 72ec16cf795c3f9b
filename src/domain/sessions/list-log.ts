import { permissionFor } from '../../auth/permissions.ts';
import { requirePermission } from '../../auth/viewer.ts';
import type { Context } from '../context.ts';
import { oneOfConditions } from '../list-filter.ts';
import { type CountedList, sessionOwners } from '../nested-pages.ts';
import {
  type Page,
  type PageLimits,
  type PageRequest,
  type PageWindow,
  pageWindow,
  readCursor,
  toPage,
  writeCursor,
} from '../pages.ts';
import { findSessions } from './find-session.ts';
import { type EventKind, type LogEntry, logColumns } from './log.ts';
import { type LogRange, readLogs } from './read-logs.ts';
import type { SessionRecord } from './session.ts';

const list = 'log';

/** Creates the cursor of an entry: (session, seq), the same for messages, events and their subscriptions. */
export function logCursor({ sessionId, seq }: Pick<LogEntry, 'sessionId' | 'seq'>): string {
  return headOf(sessionId) + tailOf(seq);
}

// A page has up to a hundred cursors, so each half is encoded once. The halves meet at a multiple of three bytes, where
// base64 can be split: "log|" and the 32 digits of an id are 36 bytes.
const lastHead = { sessionId: '', text: '' };
const tails = new Map<number, string>();
/** Most logs have fewer entries. */
const maxTails = 10_000;

function headOf(sessionId: string): string {
  if (lastHead.sessionId !== sessionId) {
    lastHead.sessionId = sessionId;
    lastHead.text = writeCursor(list, sessionId);
  }
  return lastHead.text;
}

function tailOf(seq: number): string {
  const cached = tails.get(seq);
  if (cached !== undefined) return cached;
  const written = writeCursor('', seq);
  if (seq < maxTails) tails.set(seq, written);
  return written;
}

/** Returns the seq of a cursor of this session's log; null if the text is not such a cursor. */
export function readLogCursor(sessionId: string, cursor: string): number | null {
  const parts = cursor.length <= 500 ? readCursor(list, 2, cursor) : null;
  const seq = parts?.[0] === sessionId && /^\d{1,9}$/.test(parts[1] ?? '') ? Number(parts[1]) : null;
  return seq;
}

/** A page of a log and its filter: messages only, or some kinds. */
export interface LogListRequest extends PageRequest {
  readonly messagesOnly: boolean;
  readonly kinds?: readonly EventKind[] | null | undefined;
  /** True: edited messages have their current text, and withdrawn messages are left out. Otherwise the log as it is. */
  readonly isCurrent?: boolean | undefined;
}

/** Creates the request of a log page from the arguments of a page. */
export function logRequest(
  { first, after, last, before }: PageRequest,
  { messagesOnly, kinds }: Pick<LogListRequest, 'messagesOnly' | 'kinds'>,
): LogListRequest {
  return { first, after, last, before, messagesOnly, kinds };
}

/**
 * Reads one page of the log of each of these sessions, oldest first, in the sessions' order and in one statement.
 * Throws FORBIDDEN without the permission to view one of them: an act returns its session to a caller that may act on
 * it but not read it. Throws the errors of {@link pageWindow}.
 */
export async function listLogs(
  context: Context,
  sessions: readonly Pick<SessionRecord, 'id' | 'organizationId'>[],
  request: LogListRequest,
  limits: PageLimits,
): Promise<Page<LogEntry>[]> {
  for (const { organizationId } of sessions) {
    requirePermission(context.viewer, permissionFor.viewSession, organizationId);
  }
  const windows = sessions.map(({ id }) => pageWindow(request, limits, (cursor) => readLogCursor(id, cursor)));
  const [window] = windows;
  if (!window) return [];
  const ids = sessions.map(({ id }) => id);
  const logs = await readLogs(context.store, ids, rangeOf(window, request));
  return logs.map((entries) => toLogPage(entries, window));
}

/**
 * Returns a session's log, or its messages, as a list to count. Throws FORBIDDEN without the permission to view the
 * session.
 */
export function logOf(
  { viewer }: Context,
  { id, organizationId }: Pick<SessionRecord, 'id' | 'organizationId'>,
  { messagesOnly, kinds }: Pick<LogListRequest, 'messagesOnly' | 'kinds'>,
): CountedList {
  requirePermission(viewer, permissionFor.viewSession, organizationId);
  return {
    key: `log ${JSON.stringify([messagesOnly, kinds])}`,
    ownerId: id,
    row: 'e',
    table: 'log_entry',
    owners: sessionOwners(viewer.enterpriseId),
    where: (bind) => [
      'e.session_id = owner.id',
      ...(messagesOnly ? ['e.message_type is not null'] : []),
      ...oneOfConditions('e.kind', kinds ?? undefined, bind),
    ],
  };
}

/** Returns the range to read for a page of a log: one entry more than the page has. */
export function rangeOf(
  { after, before, limit, backward }: PageWindow<number>,
  { messagesOnly, kinds = null, isCurrent }: LogListRequest,
): LogRange {
  return { after: after ?? 0, before, limit: limit + 1, backward, messagesOnly, kinds, isCurrent };
}

/** Creates the page of a log from the entries that were read for {@link rangeOf}. */
export function toLogPage(entries: readonly LogEntry[], window: PageWindow<number>): Page<LogEntry> {
  return toPage(entries, window, logCursor);
}

/** Reads one page of one session's log. */
export async function listLog(
  context: Context,
  session: Pick<SessionRecord, 'id' | 'organizationId'>,
  request: LogListRequest,
  limits: PageLimits,
): Promise<Page<LogEntry>> {
  const [page] = await listLogs(context, [session], request, limits);
  return page as Page<LogEntry>;
}

/**
 * Returns the log entries of these unprefixed ids, in the ids' order, if the viewer may see their sessions; null for
 * each other id.
 */
export async function findLogEntries(context: Context, ids: readonly string[]): Promise<(LogEntry | null)[]> {
  const sql = `select ${logColumns} from log_entry e where e.id = any($1::text[])`;
  const rows = await context.store.query<LogEntry>(sql, [ids]);
  const sessions = await findSessions(context, [...new Set(rows.map((row) => row.sessionId))]);
  const visible = new Set(sessions.map((session) => session?.id));
  const found = new Map(rows.filter((row) => visible.has(row.sessionId)).map((row) => [row.id, row]));
  return ids.map((id) => found.get(id) ?? null);
}
