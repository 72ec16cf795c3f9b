import { createHash } from 'node:crypto';
import { permissionFor } from '../../auth/permissions.ts';
import { refuse } from '../../common/errors.ts';
import type { Reader } from '../../store/reader.ts';
import type { Context } from '../context.ts';
import { canonicalJson } from '../idempotency.ts';
import { isLiveOrganization, readWithin } from '../identity/organizations/read-within.ts';
import { emailsOfAuthors } from '../identity/people/find-people.ts';
import type { Bind } from '../nested-pages.ts';
import { type PageLimits, pageWindow } from '../pages.ts';
import { findPagingSnapshot, type OffsetList, type PagingSnapshot, replaceSnapshotSql } from './paging-snapshots.ts';
import { fromJson, type InJson } from './read-sessions.ts';
import { type SessionRecord, sessionColumns } from './session.ts';
import { filterConditions } from './session-conditions.ts';
import { type CheckedFilter, checkFilter, type SessionFilter } from './session-filter.ts';
import { taggedSessions } from './tagged-sessions.ts';

/** A page by offset, for API versions without cursors. */
export interface OffsetListRequest {
  readonly organizationId: string;
  readonly filter: SessionFilter;
  readonly first?: number | undefined;
  readonly offset?: number | undefined;
}

/**
 * A session, and the email of the user who started it; null if no user started it, or one whom the viewer may not see.
 */
export interface SessionWithEmail {
  readonly session: SessionRecord;
  readonly userEmail: string | null;
}

/**
 * Lists sessions of an organization, newest first, by offset. A page at offset 0 shows the current list and makes it
 * the paging snapshot of its key and filter (paging-snapshots.ts). Later offsets count from the snapshot: they repeat
 * and miss nothing, in any order, in parallel, and while sessions are created. Without a snapshot an offset counts from
 * the current list. Clients that page at the same time with the same key and filter share a snapshot: a new one makes
 * the others repeat sessions, but miss none. Throws ORGANIZATION_NOT_USABLE, FORBIDDEN, INVALID_INPUT. The page at 0 is
 * one statement.
 */
export async function listSessionsByOffset(
  context: Context,
  request: OffsetListRequest,
  limits: PageLimits,
): Promise<readonly SessionWithEmail[]> {
  return readWithin(context, request.organizationId, permissionFor.viewSession, {
    isFound: (sessions) => sessions.length > 0,
    async read(organizationId) {
      const { first, offset = 0 } = request;
      const filter = checkFilter(context.viewer, request.filter);
      const { limit } = pageWindow({ first }, limits, () => null);
      if (offset < 0) throw refuse(['offset'], `"offset" must not be negative, but was ${offset}.`);
      const list = offsetList(context, organizationId, filter);
      if (offset === 0) return readFirstPage(context, list, limit);
      return context.store.readList(async (store) => {
        const from = { context, store, list };
        const snapshot = await findPagingSnapshot({ now: context.now, store }, list);
        return snapshot ? readPage(from, snapshot, offset, limit) : readRows(from, { offset, limit });
      });
    },
  });
}

function offsetList(context: Context, organizationId: string, filter: CheckedFilter): OffsetList {
  const { viewer } = context;
  const { enterpriseId } = viewer;
  const of = [viewer.apiKeyId ?? viewer.principal.id, organizationId, filter];
  const isLive = (bind: Bind) => isLiveOrganization(bind(organizationId), bind(enterpriseId));
  const tagged = taggedSessions(filter, enterpriseId, (bind) => bind(organizationId));
  return {
    key: createHash('sha256').update(canonicalJson(of)).digest('hex'),
    organizationId,
    enterpriseId,
    conditions: (bind) => [
      `s.organization_id = ${bind(organizationId)}`,
      ...filterConditions(filter, enterpriseId, bind),
      isLive(bind),
    ],
    through:
      tagged &&
      ((bind) => {
        const source = tagged(bind);
        return { ...source, where: [...source.where, isLive(bind)] };
      }),
  };
}

/** A list, and the reader of its page. */
interface From {
  readonly context: Context;
  readonly store: Reader;
  readonly list: OffsetList;
}

// Offsets in the head count from its oldest session, so that new sessions move nothing.
async function readPage(
  from: From,
  snapshot: PagingSnapshot,
  offset: number,
  limit: number,
): Promise<SessionWithEmail[]> {
  const fromHead = Math.max(0, Math.min(offset + limit, snapshot.headCount) - offset);
  const head =
    fromHead === 0
      ? []
      : await readRows(from, {
          newerThan: snapshot,
          offset: Math.max(0, snapshot.headCount - offset - limit),
          limit: fromHead,
        });
  if (snapshot.settledAt === null || fromHead === limit) return head.reverse();
  const rest = await readRows(from, {
    upTo: snapshot,
    offset: Math.max(0, offset - snapshot.headCount),
    limit: limit - fromHead,
  });
  return [...head.reverse(), ...rest];
}

/** The newest sessions, which become the paging snapshot of the list. */
async function readFirstPage(context: Context, list: OffsetList, limit: number): Promise<SessionWithEmail[]> {
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const page = rowsOf(list, { limit }, bind);
  const snapshot = replaceSnapshotSql(context, list, bind);
  const rows = await context.store.execute<Row>(
    `with page as materialized (${page}), ${snapshot} ${rowsIn('page', context, bind)}`,
    values,
  );
  return toSessions(rows);
}

interface Part {
  /** Oldest first, the sessions above the settled one of a snapshot; all if there is none. */
  readonly newerThan?: PagingSnapshot;
  /** Newest first, from the settled one of a snapshot. Without either: the current list, newest first. */
  readonly upTo?: PagingSnapshot;
  readonly offset?: number;
  readonly limit: number;
}

async function readRows({ context, store, list }: From, part: Part): Promise<SessionWithEmail[]> {
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const rows = await store.query<Row>(
    `with page as materialized (${rowsOf(list, part, bind)}) ${rowsIn('page', context, bind)}`,
    values,
  );
  return toSessions(rows);
}

function rowsOf(list: OffsetList, { newerThan, upTo, offset = 0, limit }: Part, bind: Bind): string {
  const through = list.through?.(bind);
  const where = [...(through?.where ?? list.conditions(bind))];
  const { at, id } = through?.sortColumns ?? { at: 's.created_at', id: 's.id' };
  const edge = newerThan ?? upTo;
  if (edge?.settledAt) {
    const sign = newerThan ? '>' : '<=';
    where.push(`(${at}, ${id}) ${sign} (${bind(edge.settledAt)}::timestamptz, ${bind(edge.settledId)}::text)`);
  }
  const direction = newerThan ? 'asc' : 'desc';
  return `
    select ${sessionColumns} from ${through?.from ?? 'session s'} where ${where.join(' and ')}
     order by ${at} ${direction}, ${id} ${direction} limit ${bind(limit)} offset ${bind(offset)}`;
}

/** A session of a page as one JSON value. The last row has the emails of the users who started them instead. */
interface Row {
  readonly session: InJson<SessionRecord> | null;
  /** By the users' ids. */
  readonly emails: Readonly<Record<string, string>> | null;
}

// One session per row: a single value for all may exceed the maximum string length, which ends the process.
const rowsIn = (page: string, context: Context, bind: Bind): string =>
  `select row_to_json(p) as session, null::json as emails from ${page} p union all
   select null, (${emailsOfAuthors(context, `select "userId" from ${page}`, bind)})::json`;

function toSessions(rows: readonly Row[]): SessionWithEmail[] {
  const emails = rows.at(-1)?.emails ?? {};
  return rows.flatMap(({ session: row }) => {
    if (row === null) return [];
    const session = fromJson<SessionRecord>(row);
    return [{ session, userEmail: emails[session.userId ?? ''] ?? null }];
  });
}
