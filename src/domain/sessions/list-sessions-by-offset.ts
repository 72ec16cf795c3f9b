import { createHash } from 'node:crypto';
import { permissionFor } from '../../auth/permissions.ts';
import type { Context } from '../context.ts';
import { refuse } from '../errors.ts';
import { canonicalJson } from '../idempotency.ts';
import type { Bind } from '../nested-pages.ts';
import { isLiveOrganization, readWithin } from '../organizations/read-within.ts';
import { type PageLimits, pageWindow } from '../pages.ts';
import { emailsOfAuthors } from '../people/find-people.ts';
import { beginningWithPage, findOrBeginWalk, type OffsetWalk, type WalkedList } from './offset-walks.ts';
import { fromJson, type InJson } from './read-sessions.ts';
import { type SessionRecord, sessionColumns } from './session.ts';
import { checkFilter, filterConditions, type SessionFilter } from './session-filter.ts';
import { taggedSessions } from './tagged-sessions.ts';

/** A page for wires that have no cursors. */
export interface OffsetListRequest {
  readonly organizationId: string;
  readonly filter: SessionFilter;
  readonly first?: number | undefined;
  readonly offset?: number | undefined;
}

/** A session, and the email of the user who started it; null where it was none, or one whom the viewer may not see. */
export interface SessionWithEmail {
  readonly session: SessionRecord;
  readonly userEmail: string | null;
}

/**
 * Sessions of an organization, newest first, by offset. The pages of one walk meet whatever the order in which they are
 * asked for, also in parallel and while sessions are being made: offsets count from where the walk began (offset-walks.ts).
 * ORGANIZATION_NOT_USABLE, FORBIDDEN, INVALID_INPUT. The page at 0 is one statement.
 */
export async function listSessionsByOffset(
  context: Context,
  request: OffsetListRequest,
  limits: PageLimits,
): Promise<readonly SessionWithEmail[]> {
  return readWithin(context, request.organizationId, permissionFor.viewSession, {
    isFound: (sessions) => sessions.length > 0,
    async read(organizationId) {
      const { filter, first, offset = 0 } = request;
      checkFilter(filter);
      const { limit } = pageWindow({ first }, limits, () => null);
      if (offset < 0) throw refuse(['offset'], `"offset" must not be negative, but was ${offset}.`);
      const list = walkedList(context, organizationId, filter);
      if (offset > 0) return readPage(context, list, await findOrBeginWalk(context, list), offset, limit);
      const { sessions, other } = await readFirstPage(context, list, limit);
      return other ? readPage(context, list, other, offset, limit) : sessions;
    },
  });
}

function walkedList(context: Context, organizationId: string, filter: SessionFilter): WalkedList {
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

// The head is counted from its old end, so that what comes at the new end moves nothing.
async function readPage(
  context: Context,
  list: WalkedList,
  walk: OffsetWalk,
  offset: number,
  limit: number,
): Promise<SessionWithEmail[]> {
  const fromHead = Math.max(0, Math.min(offset + limit, walk.headCount) - offset);
  const head =
    fromHead === 0
      ? []
      : await readRows(context, list, {
          newerThan: walk,
          offset: Math.max(0, walk.headCount - offset - limit),
          limit: fromHead,
        });
  if (walk.settledAt === null || fromHead === limit) return head.reverse();
  const rest = await readRows(context, list, {
    upTo: walk,
    offset: Math.max(0, offset - walk.headCount),
    limit: limit - fromHead,
  });
  return [...head.reverse(), ...rest];
}

/** The newest sessions, and with them the walk that they begin, or the `other` one that they turn out to be the first page of. */
async function readFirstPage(context: Context, list: WalkedList, limit: number) {
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const page = rowsOf(list, { limit: limit + 1 }, bind);
  const { ctes, other } = beginningWithPage(context, list, bind, bind(limit));
  const rows = await context.store.execute<Row>(
    `with page as materialized (${page}), ${ctes}
     ${rowsIn('page', context, bind, `select row_to_json(o) from (${other}) o`)}`,
    values,
  );
  const found = rows.at(-1)?.other ?? null;
  const settledAt = found?.settledAt ?? null;
  return {
    sessions: toSessions(rows).slice(0, limit),
    other: found && { ...found, settledAt: settledAt === null ? null : new Date(settledAt) },
  };
}

interface Part {
  /** Oldest first, those above the settled one; all when there is none. */
  readonly newerThan?: OffsetWalk;
  /** Newest first, from the settled one. */
  readonly upTo?: OffsetWalk;
  readonly offset?: number;
  readonly limit: number;
}

async function readRows(context: Context, list: WalkedList, part: Part): Promise<SessionWithEmail[]> {
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const rows = await context.store.query<Row>(
    `with page as materialized (${rowsOf(list, part, bind)}) ${rowsIn('page', context, bind)}`,
    values,
  );
  return toSessions(rows);
}

function rowsOf(list: WalkedList, { newerThan, upTo, offset = 0, limit }: Part, bind: Bind): string {
  const through = list.through?.(bind);
  const where = [...(through?.where ?? list.conditions(bind))];
  const { at, id } = through?.place ?? { at: 's.created_at', id: 's.id' };
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

/** A row of a page, as one JSON value; then one row of who started them, and of the walk that the page is of. */
interface Row {
  readonly session: InJson<SessionRecord> | null;
  /** By the users' ids. */
  readonly emails: Readonly<Record<string, string>> | null;
  readonly other: (OffsetWalk & { settledAt: string | null }) | null;
}

// A session a row: all of them as one value may be longer than a text can be, and that ends the process.
const rowsIn = (page: string, context: Context, bind: Bind, other = 'null'): string =>
  `select row_to_json(p) as session, null::json as emails, null::json as other from ${page} p union all
   select null, (${emailsOfAuthors(context, `select "userId" from ${page}`, bind)})::json, (${other})::json`;

function toSessions(rows: readonly Row[]): SessionWithEmail[] {
  const emails = rows.at(-1)?.emails ?? {};
  return rows.flatMap(({ session: row }) => {
    if (row === null) return [];
    const session = fromJson<SessionRecord>(row);
    return [{ session, userEmail: emails[session.userId ?? ''] ?? null }];
  });
}
