import { permissionFor } from '../../auth/permissions.ts';
import { organizationsWith, ownerOf, requireEnterprisePermission } from '../../auth/viewer.ts';
import { refuse } from '../../common/errors.ts';
import type { Context } from '../context.ts';
import { type Creators, creatorsOf } from '../list-filter.ts';
import { type Bind, type Count, countNested, type RowSource } from '../nested-pages.ts';
import type { Page, PageLimits, PageRequest } from '../pages.ts';
import type { ColumnKey } from '../sort-keys.ts';
import { type SortedPage, sortedPage } from '../sorted-pages.ts';
import { organizationList } from './list-sessions.ts';
import { readSessions } from './read-sessions.ts';
import { type SessionRecord, sessionColumns } from './session.ts';
import { filterConditions } from './session-conditions.ts';
import { type CheckedFilter, checkFilter, type SessionFilter, withCondition } from './session-filter.ts';
import { newestFirst, type SessionOrder, sessionListName, sortBy } from './session-orders.ts';
import { waitingFor } from './waiting-for.ts';
import { isOfWaiting, waitingSessions } from './waiting-sessions.ts';

/**
 * The sessions in a list over several organizations. `enterprise`: all sessions of the enterprise; needs
 * ViewAccountSessions. `viewable`: those of all organizations where the viewer may view sessions. `own`: of these, the
 * ones that the viewer started. `waiting`: of these, the ones that wait for an answer and that the viewer started or
 * may manage.
 */
export type SessionScope = 'enterprise' | 'viewable' | 'own' | 'waiting';

/** A page of a list over several organizations. */
export interface SessionsAcrossRequest extends PageRequest {
  readonly filter?: SessionFilter | undefined;
  readonly order?: SessionOrder | undefined;
}

/** Organizations of the enterprise that are not deleted: all of them, or those with these unprefixed ids. */
interface Organizations {
  readonly all: boolean;
  readonly ids: readonly string[];
}

/** The sessions of some organizations that match a filter. */
interface Part {
  readonly organizations: Organizations;
  readonly filter: CheckedFilter;
}

/** Maximum number of organizations in a filter: a page of each is read and merged. */
const maxOrganizations = 100;

/**
 * Lists sessions of several organizations in one order, in one statement. Throws FORBIDDEN if a scope needs a
 * permission; INVALID_INPUT for an invalid filter and for more than 100 organizations in it; the errors of
 * `pageWindow`.
 */
export async function listSessionsAcross(
  context: Context,
  scope: SessionScope,
  request: SessionsAcrossRequest,
  limits: PageLimits,
): Promise<Page<SessionRecord>> {
  const { enterpriseId } = context.viewer;
  const order = request.order ?? newestFirst;
  const by = sortBy(order.field).key;
  const list = { name: sessionListName(order.field), row: 's', by, isOldestFirst: order.direction === 'asc' };
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const reads = partsOf(context, scope, request.filter ?? {}).map((part) => {
    const source = oneSource(enterpriseId, part, order, bind);
    const { from, where, sortColumns: sortKey } = source ?? organizationSource(enterpriseId, part, order, bind);
    const page = sortedPage(list, request, limits, bind, sortKey);
    const rows = { from, where: [...where, ...page.beyond], sortColumns: sortKey };
    return { page, sql: source ? readRows(rows, page) : mergePages(enterpriseId, part, rows, by, page, bind) };
  });
  const [first] = reads;
  if (!first) return sortedPage(list, request, limits, bind).toPage<SessionRecord>([]);
  const all = reads.map(({ sql }) => `(${sql})`).join(' union all ');
  const sql = `select ${sessionColumns} from (${all}) s ${first.page.order} limit ${first.page.limit}`;
  return first.page.toPage(
    await context.store.readList((store) => readSessions<SessionRecord>({ store }, sql, values)),
  );
}

/** A page of sessions of the enterprise. */
export interface EnterpriseSessionListRequest extends SessionsAcrossRequest {
  /** Unprefixed ids; if omitted: all organizations. Ids that are not of the enterprise match no sessions. */
  readonly organizationIds?: readonly string[] | undefined;
}

/** {@link listSessionsAcross} for the enterprise; its errors name the organizations as REST does. */
export async function listEnterpriseSessions(
  context: Context,
  { organizationIds, filter, ...page }: EnterpriseSessionListRequest,
  limits: PageLimits,
): Promise<Page<SessionRecord>> {
  requireEnterprisePermission(context.viewer, permissionFor.viewEnterpriseSessions);
  if (organizationIds !== undefined && organizationIds.length > maxOrganizations) {
    const message = `"orgIds" must be at most ${maxOrganizations} organizations, but were ${organizationIds.length}.`;
    throw refuse(['orgIds'], message);
  }
  return listSessionsAcross(context, 'enterprise', { ...page, filter: { ...filter, organizationIds } }, limits);
}

/** Counts all sessions that {@link listSessionsAcross} would list. Throws FORBIDDEN, INVALID_INPUT. */
export async function countSessionsAcross(
  context: Context,
  scope: SessionScope,
  { filter = {} }: Pick<SessionsAcrossRequest, 'filter'>,
): Promise<Count> {
  const { enterpriseId } = context.viewer;
  const parts = partsOf(context, scope, filter);
  if (parts.length === 0) return { total: 0, isExact: true };
  const conditionsOf = (part: Part, bind: Bind) =>
    [
      `s.organization_id in (select o.id from organization o where ${live('o', enterpriseId, part.organizations, bind).join(' and ')})`,
      ...filterConditions(part.filter, enterpriseId, bind),
    ].join(' and ');
  const [count] = await countNested(context, [
    {
      key: 'sessions',
      ownerId: enterpriseId,
      row: 's',
      table: 'session',
      owners: () => '',
      where: (bind) => [`(${parts.map((part) => `(${conditionsOf(part, bind)})`).join(' or ')})`],
    },
  ]);
  return count as Count;
}

/** Splits a list into parts without common sessions. */
function partsOf(context: Context, scope: SessionScope, filterInput: SessionFilter): Part[] {
  const { viewer } = context;
  const { organizationIds, ...filter } = checkFilter(viewer, filterInput);
  if (organizationIds !== undefined && organizationIds.length > maxOrganizations) {
    const message = `"organizationIds" must be at most ${maxOrganizations} organizations, but were ${organizationIds.length}.`;
    throw refuse(['filter', 'organizationIds'], message);
  }
  if (scope === 'enterprise') requireEnterprisePermission(viewer, permissionFor.viewEnterpriseSessions);
  const viewable = organizationsWith(viewer, permissionFor.viewSession);
  const named = organizationIds === undefined ? everywhere : { all: false, ids: organizationIds };
  const organizations = scope === 'enterprise' ? named : intersect(named, viewable);
  if (scope === 'enterprise' || scope === 'viewable') return [{ organizations, filter }];
  const startedBy = (mine: Creators | null, of: CheckedFilter): Part[] =>
    mine === null ? [] : [{ organizations, filter: withCondition(of, { createdBy: mine }) }];
  if (scope === 'own') return startedBy(creatorsOf(ownerOf(viewer)), filter);
  const waits = waitingFor(viewer);
  const mine = waits.startedBy;
  const waiting = withCondition(filter, { statusDetail: waits.statusDetail });
  const managed = intersect(organizations, waits.organizations);
  if (managed.all) return [{ organizations: managed, filter: waiting }];
  if (managed.ids.length === 0) return startedBy(mine, waiting);
  const others = mine === null ? waiting : { ...waiting, and: [...(waiting.and ?? []), { not: { createdBy: mine } }] };
  return [...startedBy(mine, waiting), { organizations: managed, filter: others }];
}

const everywhere: Organizations = { all: true, ids: [] };

function intersect(one: Organizations, other: Organizations): Organizations {
  if (one.all) return other;
  return other.all ? one : { all: false, ids: one.ids.filter((id) => other.ids.includes(id)) };
}

/**
 * Returns the conditions on an organization of this alias: of the enterprise, not deleted, and one of `organizations`.
 */
function live(alias: string, enterpriseId: string, { all, ids }: Organizations, bind: Bind): string[] {
  return [
    `${alias}.enterprise_id = ${bind(enterpriseId)}`,
    `${alias}.deleted_at is null`,
    ...(all ? [] : [`${alias}.id = any(${bind(ids)}::text[])`]),
  ];
}

/** Conditions that select few sessions by an index over all organizations. */
const everywhereIndexed = ['sessionIds', 'playbookId', 'automationIds', 'parentId', 'createdBy', 'userEmail'] as const;

/** Conditions that select few sessions by an index that begins with the organization. */
const organizationIndexed = [
  'status',
  'statusDetail',
  'endReasons',
  'group',
  'tags',
  'allTags',
  'pullRequestStates',
] as const;

/**
 * Returns a single source of a part's rows in order, over all its organizations; null if there is none: then each
 * organization has its own.
 */
function oneSource(
  enterpriseId: string,
  { organizations, filter }: Part,
  { field }: SessionOrder,
  bind: Bind,
): RowSource | null {
  const joins = 'join organization o on o.id = s.organization_id';
  const ofOrganizations = () => live('o', enterpriseId, organizations, bind);
  const { createdBy } = filter;
  const { key, waitingIndex, isAcross } = sortBy(field);
  if (waitingIndex !== null && isOfWaiting(filter)) {
    const [only, ...more] = createdBy ? new Set(Object.values(createdBy).flat()) : [];
    const isOfOne = only !== undefined && more.length === 0;
    if (!isOfOne && !organizations.all && waitingIndex === 'organization') return null;
    const ownerConditions = isOfOne ? [`c.principal_id = ${bind(only)}`] : [];
    return waitingSessions(
      { filter, enterpriseId, ownerConditions, joins, alsoOfSession: ofOrganizations(), by: key },
      bind,
    );
  }
  const isAnywhere = everywhereIndexed.some((name) => filter[name] !== undefined);
  const isInEach =
    !organizations.all ||
    organizationIndexed.some((name) => filter[name] !== undefined) ||
    filter.isArchived === true ||
    filter.isUnlisted === true ||
    filter.isPinned === true ||
    filter.isUnread === true ||
    filter.hasParent === true;
  if (!isAnywhere && (!isAcross || isInEach)) return null;
  return {
    from: `session s ${joins}`,
    where: [...ofOrganizations(), ...filterConditions(filter, enterpriseId, bind)],
    sortColumns: { at: key.column('s'), id: 's.id' },
  };
}

/** Returns the sessions of the organization `owner` as its own list has them. */
function organizationSource(enterpriseId: string, { filter }: Part, order: SessionOrder, bind: Bind): RowSource {
  const list = organizationList(enterpriseId, '', filter, order);
  const sortKey = { at: sortBy(order.field).key.column('s'), id: 's.id' };
  return list.through?.(bind) ?? { from: 'session s', where: list.where(bind), sortColumns: sortKey };
}

const readRows = ({ from, where }: RowSource, { sourceOrder, limit }: SortedPage): string =>
  `select s.* from ${from} where ${where.join(' and ')} ${sourceOrder} limit ${limit}`;

/**
 * Merges the pages of many organizations without reading a page of each. Only organizations whose first session is
 * among the first ones of all can contribute, and each further one contributes at most one session less than the one
 * before it. If there are enough of them, nothing is read beyond the last of their first sessions.
 */
function mergePages(
  enterpriseId: string,
  { organizations }: Part,
  { from, where, sortColumns: sortKey }: RowSource,
  { bounds }: ColumnKey,
  { sourceOrder, direction, limit }: SortedPage,
  bind: Bind,
): string {
  const read = (what: string, count: string, ...more: string[]) =>
    `select ${what} from ${from} where ${[...where, ...more].join(' and ')} ${sourceOrder} limit ${count}`;
  const isNewestFirst = direction === 'desc';
  const [last, none] = isNewestFirst ? ['min', bounds[0]] : ['max', bounds[1]];
  const notBeyond = `${sortKey.at} ${isNewestFirst ? '>=' : '<='} owner.last_at`;
  return `select s.* from (
      select f.id, f.rank, case when count(*) over () < ${limit} then ${none} else ${last}(f.at) over () end as last_at
        from (select owner.id, f.at, row_number() over (order by f.at ${direction}, f.id ${direction}) as rank
          from organization owner cross join lateral (${read(`${sortKey.at} as at, ${sortKey.id} as id`, '1')}) f
         where ${live('owner', enterpriseId, organizations, bind).join(' and ')}
         order by rank limit ${limit}) f) owner
    cross join lateral (${read('s.*', `${limit}::bigint - owner.rank + 1`, notBeyond)}) s`;
}
