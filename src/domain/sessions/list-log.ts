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

/** The cursor of an entry: (session, seq), the same for messages, events and their subscriptions. */
export function logCursor({ sessionId, seq }: Pick<LogEntry, 'sessionId' | 'seq'>): string {
  return headOf(sessionId) + tailOf(seq);
}

// A page has a hundred of them, so each half is written once. They meet where three bytes end, which is where base64 can be
// cut: "log|" and the 32 digits of an id are 36.
const lastHead = { sessionId: '', text: '' };
const tails = new Map<number, string>();
/** As many as most logs have entries. */
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

/** The seq that a cursor of this session's log stands for; null when it is not one. */
export function readLogCursor(sessionId: string, cursor: string): number | null {
  const parts = cursor.length <= 500 ? readCursor(list, 2, cursor) : null;
  const seq = parts?.[0] === sessionId && /^\d{1,9}$/.test(parts[1] ?? '') ? Number(parts[1]) : null;
  return seq;
}

/** Which entries of a log: its messages only, or those of some kinds. */
export interface LogListRequest extends PageRequest {
  readonly messagesOnly: boolean;
  readonly kinds?: readonly EventKind[] | null | undefined;
}

/** A page of a log, as it is asked for; made as `pageOf` makes a page. */
export function logRequest(
  { first, after, last, before }: PageRequest,
  { messagesOnly, kinds }: Pick<LogListRequest, 'messagesOnly' | 'kinds'>,
): LogListRequest {
  return { first, after, last, before, messagesOnly, kinds };
}

/**
 * One page of the log of each of these sessions, oldest first, in the sessions' order and in one statement. FORBIDDEN
 * without the permission to view one of them: an act gives its session to who may act on it, and that need not be who may
 * read it. Errors of {@link pageWindow}.
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

/** A session's log, or its messages, to be counted. FORBIDDEN without the permission to view the session. */
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

/** What is to be read for a page of a log: one entry more than it has. */
export function rangeOf(
  { after, before, limit, backward }: PageWindow<number>,
  { messagesOnly, kinds = null }: LogListRequest,
): LogRange {
  return { after: after ?? 0, before, limit: limit + 1, backward, messagesOnly, kinds };
}

/** The page of a log that was read as {@link rangeOf} says. */
export function toLogPage(entries: readonly LogEntry[], window: PageWindow<number>): Page<LogEntry> {
  return toPage(entries, window, logCursor);
}

/** One page of one session's log. */
export async function listLog(
  context: Context,
  session: Pick<SessionRecord, 'id' | 'organizationId'>,
  request: LogListRequest,
  limits: PageLimits,
): Promise<Page<LogEntry>> {
  const [page] = await listLogs(context, [session], request, limits);
  return page as Page<LogEntry>;
}

/** Entries of the log by their bare ids, in the ids' order, of sessions that the viewer may see; null for each other. */
export async function findLogEntries(context: Context, ids: readonly string[]): Promise<(LogEntry | null)[]> {
  const sql = `select ${logColumns} from log_entry e where e.id = any($1::text[])`;
  const rows = await context.store.query<LogEntry>(sql, [ids]);
  const sessions = await findSessions(context, [...new Set(rows.map((row) => row.sessionId))]);
  const visible = new Set(sessions.map((session) => session?.id));
  const found = new Map(rows.filter((row) => visible.has(row.sessionId)).map((row) => [row.id, row]));
  return ids.map((id) => found.get(id) ?? null);
}
