import { permissionFor } from '../../auth/permissions.ts';
import { requirePermission } from '../../auth/viewer.ts';
import type { Context } from '../context.ts';
import { isLiveOrganization, readWithin } from '../identity/organizations/read-within.ts';
import { requireUsable } from '../identity/organizations/use-organization.ts';
import {
  type Bind,
  listNested,
  type NestedList,
  organizationOwners,
  type RowSource,
  sessionOwners,
} from '../nested-pages.ts';
import type { Page, PageLimits, PageRequest } from '../pages.ts';
import { createdAtKey } from '../sort-keys.ts';
import { sortedPage } from '../sorted-pages.ts';
import { childIdsColumn, type SessionWithChildren } from './children.ts';
import { readSessions } from './read-sessions.ts';
import { titleCandidates } from './search/title-candidates.ts';
import { type SessionRecord, sessionColumns } from './session.ts';
import { filterConditions } from './session-conditions.ts';
import { type CheckedFilter, checkFilter, type SessionFilter } from './session-filter.ts';
import { newestFirst, type SessionOrder, type SessionSortField, sessionListName, sortBy } from './session-orders.ts';
import { isOfWaiting, waitingSessions } from './waiting-sessions.ts';

/** A page of sessions of one organization. */
export interface SessionListRequest extends PageRequest {
  readonly organizationId: string;
  readonly filter?: SessionFilter | undefined;
  readonly order?: SessionOrder | undefined;
}

/** The cursor of a session in a list of the newest first. */
export const sessionCursor = ({ createdAt, id }: Pick<SessionRecord, 'createdAt' | 'id'>): string =>
  createdAtKey.write(sessionListName('createdAt'), { at: createdAt, id });

/**
 * Lists sessions of an organization with their children. Throws ORGANIZATION_NOT_USABLE, FORBIDDEN, and the errors of
 * {@link pageWindow}. Sends one statement, unless nothing is found.
 */
export async function listSessions(
  context: Context,
  request: SessionListRequest,
  limits: PageLimits,
): Promise<Page<SessionWithChildren>> {
  return readWithin(context, request.organizationId, permissionFor.viewSession, {
    isFound: ({ items }) => items.length > 0,
    async read(id) {
      const list: NestedList<SessionRecord> = { ...sessionsOf(context, id, request.filter, request.order), columns };
      if (!list.through && !list.candidates) return readPage(context, id, list, request, limits);
      const [page] = await listNested(context, [list as NestedList<SessionWithChildren>], request, limits);
      return page as Page<SessionWithChildren>;
    },
  });
}

const columns = `${sessionColumns}, ${childIdsColumn}`;

/**
 * Returns the session list of an organization that has been read, by its unprefixed id, as a nested list. Throws
 * ORGANIZATION_NOT_USABLE, FORBIDDEN, INVALID_INPUT.
 */
export function sessionsOf(
  context: Context,
  organizationId: string,
  filter: SessionFilter = {},
  order: SessionOrder = newestFirst,
): NestedList<SessionRecord> {
  const { viewer } = context;
  requireUsable(context, organizationId, permissionFor.viewSession);
  return organizationList(viewer.enterpriseId, organizationId, checkFilter(viewer, filter), order);
}

/** Returns the list of {@link sessionsOf} for a checked filter, without a permission check. */
export function organizationList(
  enterpriseId: string,
  organizationId: string,
  filter: CheckedFilter,
  { field, direction }: SessionOrder,
): NestedList<SessionRecord> {
  return {
    key: `sessions ${JSON.stringify([filter, field, direction])}`,
    name: sessionListName(field),
    ownerId: organizationId,
    row: 's',
    by: sortBy(field).key,
    isOldestFirst: direction === 'asc',
    table: 'session',
    columns: sessionColumns,
    owners: organizationOwners(enterpriseId),
    where: (bind) => ['s.organization_id = owner.id', ...filterConditions(filter, enterpriseId, bind)],
    through: throughIndex(filter, enterpriseId, field),
    candidates: titleCandidates(filter),
  };
}

// Returns the row source of another table that has the list's order.
function throughIndex(
  filter: CheckedFilter,
  enterpriseId: string,
  field: SessionSortField,
): ((bind: Bind) => RowSource) | undefined {
  const { key, waitingIndex, through } = sortBy(field);
  if (waitingIndex !== null && isOfWaiting(filter)) {
    return (bind) =>
      waitingSessions({ filter, enterpriseId, ownerConditions: ['c.organization_id = owner.id'], by: key }, bind);
  }
  return through?.(filter, enterpriseId, () => 'owner.id');
}

/**
 * Returns the child sessions of a session as a nested list. Throws FORBIDDEN without the permission to view them, and
 * INVALID_INPUT.
 */
export function childrenOf(
  context: Context,
  session: Pick<SessionRecord, 'id' | 'organizationId'>,
  filterInput: SessionFilter = {},
  { field, direction }: SessionOrder = newestFirst,
): NestedList<SessionRecord> {
  const { viewer } = context;
  requirePermission(viewer, permissionFor.viewSession, session.organizationId);
  const filter = checkFilter(viewer, filterInput);
  return {
    key: `children ${JSON.stringify([filter, field, direction])}`,
    name: sessionListName(field),
    ownerId: session.id,
    row: 's',
    by: sortBy(field).key,
    isOldestFirst: direction === 'asc',
    table: 'session',
    columns: sessionColumns,
    owners: sessionOwners(viewer.enterpriseId),
    where: (bind) => [
      's.parent_id = owner.id',
      's.organization_id = parent.organization_id',
      ...filterConditions(filter, viewer.enterpriseId, bind),
    ],
  };
}

// A separate statement without a row for each list: this is the hot path of REST.
async function readPage(
  context: Context,
  organizationId: string,
  list: NestedList<SessionRecord>,
  request: SessionListRequest,
  limits: PageLimits,
): Promise<Page<SessionWithChildren>> {
  const { enterpriseId } = context.viewer;
  const filter = checkFilter(context.viewer, request.filter ?? {});
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const organization = bind(organizationId);
  const isLive = isLiveOrganization(organization, bind(enterpriseId));
  const page = sortedPage(list, request, limits, bind);
  const where = [
    `s.organization_id = ${organization}`,
    isLive,
    ...filterConditions(filter, enterpriseId, bind),
    ...page.beyond,
  ];
  const sql = `select ${columns} from session s where ${where.join(' and ')} ${page.order} limit ${page.limit}`;
  return page.toPage(
    await context.store.readList((store) => readSessions<SessionWithChildren>({ store }, sql, values)),
  );
}
