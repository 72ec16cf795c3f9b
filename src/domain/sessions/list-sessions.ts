import { permissionFor } from '../../auth/permissions.ts';
import { requireEnterprisePermission, requirePermission } from '../../auth/viewer.ts';
import type { Context } from '../context.ts';
import { refuse } from '../errors.ts';
import {
  type Count,
  countNested,
  listNested,
  type NestedList,
  organizationOwners,
  sessionOwners,
} from '../nested-pages.ts';
import { isLiveOrganization, readWithin } from '../organizations/read-within.ts';
import { requireUsable } from '../organizations/use-organization.ts';
import {
  type Page,
  type PageLimits,
  type PageRequest,
  pageWindow,
  readTimeCursor,
  toPage,
  writeCursor,
} from '../pages.ts';
import { childIdsColumn, type SessionWithChildren } from './children.ts';
import { movedSessions } from './moved-sessions.ts';
import { readSessions } from './read-sessions.ts';
import { type SessionRecord, sessionColumns } from './session.ts';
import { checkFilter, filterConditions, type SessionFilter } from './session-filter.ts';
import { taggedSessions } from './tagged-sessions.ts';

/** Newest first by creation unless said otherwise. */
export interface SessionOrder {
  readonly field: 'createdAt' | 'updatedAt';
  readonly direction: 'asc' | 'desc';
}

/** A page of sessions of one organization. */
export interface SessionListRequest extends PageRequest {
  readonly organizationId: string;
  readonly filter?: SessionFilter | undefined;
  readonly order?: SessionOrder | undefined;
}

/** A page of sessions of the enterprise, newest first by creation. */
export interface EnterpriseSessionListRequest extends PageRequest {
  /** Bare ids; left out: all organizations. Those that are not of the enterprise have no sessions here. */
  readonly organizationIds?: readonly string[] | undefined;
  readonly filter?: SessionFilter | undefined;
}

/** The most organizations that a list may name: a page is read of each, and merged. */
const maxOrganizations = 100;

const newestFirst: SessionOrder = { field: 'createdAt', direction: 'desc' };

/** The cursor of a session in a list of the newest first. */
export const sessionCursor = ({ createdAt, id }: Pick<SessionRecord, 'createdAt' | 'id'>): string =>
  writeCursor('sessions.createdAt', createdAt.getTime(), id);

/**
 * Sessions of an organization, and what they started. ORGANIZATION_NOT_USABLE, FORBIDDEN, and the errors of {@link pageWindow}.
 * One statement, unless nothing is found.
 */
export async function listSessions(
  context: Context,
  request: SessionListRequest,
  limits: PageLimits,
): Promise<Page<SessionWithChildren>> {
  const columns = `${sessionColumns}, ${childIdsColumn}`;
  return readWithin(context, request.organizationId, permissionFor.viewSession, {
    isFound: ({ items }) => items.length > 0,
    async read(id) {
      const list: NestedList<SessionRecord> = { ...sessionsOf(context, id, request.filter, request.order), columns };
      if (list.through) {
        const [page] = await listNested(context, [list as NestedList<SessionWithChildren>], request, limits);
        return page as Page<SessionWithChildren>;
      }
      const ofOrganization: Source = ({ bind, where, order, limit }) => {
        const organization = bind(id);
        const isLive = isLiveOrganization(organization, bind(context.viewer.enterpriseId));
        return `select ${columns} from session s
          where s.organization_id = ${organization} and ${isLive} and ${where} ${order} limit ${limit}`;
      };
      return readPage<SessionWithChildren>(context, ofOrganization, request, limits);
    },
  });
}

/**
 * The sessions of an organization that has been read, by its bare id, as one of many such lists. ORGANIZATION_NOT_USABLE,
 * FORBIDDEN, INVALID_INPUT.
 */
export function sessionsOf(
  context: Context,
  organizationId: string,
  filter: SessionFilter = {},
  { field, direction }: SessionOrder = newestFirst,
): NestedList<SessionRecord> {
  const { enterpriseId } = context.viewer;
  requireUsable(context, organizationId, permissionFor.viewSession);
  checkFilter(filter);
  return {
    key: `sessions ${JSON.stringify([filter, field, direction])}`,
    name: `sessions.${field}`,
    ownerId: organizationId,
    row: 's',
    at: field,
    isOldestFirst: direction === 'asc',
    table: 'session',
    columns: sessionColumns,
    owners: organizationOwners(enterpriseId),
    where: (bind) => ['s.organization_id = owner.id', ...filterConditions(filter, enterpriseId, bind)],
    through: (field === 'createdAt' ? taggedSessions : movedSessions)(filter, enterpriseId, () => 'owner.id'),
  };
}

/** The sessions that a session has started, as one of many such lists. FORBIDDEN without the permission to view them. */
export function childrenOf(
  context: Context,
  session: Pick<SessionRecord, 'id' | 'organizationId'>,
): NestedList<SessionRecord> {
  const { viewer } = context;
  requirePermission(viewer, permissionFor.viewSession, session.organizationId);
  return {
    key: 'children',
    name: 'sessions.createdAt',
    ownerId: session.id,
    row: 's',
    table: 'session',
    columns: sessionColumns,
    owners: sessionOwners(viewer.enterpriseId),
    where: (bind) => [
      's.parent_id = owner.id',
      's.organization_id = parent.organization_id',
      ...filterConditions({}, viewer.enterpriseId, bind),
    ],
  };
}

/**
 * Sessions of several organizations, or all, of the enterprise. FORBIDDEN without ViewAccountSessions, INVALID_INPUT for
 * more than 100 organizations, and the errors of {@link pageWindow}.
 */
export async function listEnterpriseSessions(
  context: Context,
  request: EnterpriseSessionListRequest,
  limits: PageLimits,
): Promise<Page<SessionRecord>> {
  const { viewer } = context;
  requireEnterprisePermission(viewer, permissionFor.viewEnterpriseSessions);
  const { organizationIds } = request;
  if (organizationIds === undefined) return readPage(context, ofEnterprise(viewer.enterpriseId), request, limits);
  if (organizationIds.length > maxOrganizations) {
    const said = `"orgIds" must be at most ${maxOrganizations} organizations, but were ${organizationIds.length}.`;
    throw refuse(['orgIds'], said);
  }
  // One short ordered read by the index of each organization, merged: never all of their sessions, sorted.
  const ofSome: Source = ({ bind, where, order, limit }) => `
    select ${sessionColumns} from organization o cross join lateral (
      select * from session s where s.organization_id = o.id and ${where} ${order} limit ${limit}) s
     where o.id = any(${bind(organizationIds)}::text[]) and o.enterprise_id = ${bind(viewer.enterpriseId)} and o.deleted_at is null
     ${order} limit ${limit}`;
  return readPage(context, ofSome, request, limits);
}

/** How many sessions {@link listEnterpriseSessions} would list in all. FORBIDDEN, INVALID_INPUT. */
export async function countEnterpriseSessions(
  context: Context,
  { filter = {}, organizationIds }: Pick<EnterpriseSessionListRequest, 'filter' | 'organizationIds'>,
): Promise<Count> {
  const { enterpriseId } = context.viewer;
  requireEnterprisePermission(context.viewer, permissionFor.viewEnterpriseSessions);
  checkFilter(filter);
  const [count] = await countNested(context, [
    {
      key: 'enterprise sessions',
      name: 'sessions.createdAt',
      ownerId: enterpriseId,
      row: 's',
      table: 'session',
      columns: sessionColumns,
      owners: () => '',
      where: (bind) => [
        `s.organization_id in (select o.id from organization o where o.enterprise_id = owner.id and o.deleted_at is null
            and (${bind(organizationIds ?? null)}::text[] is null or o.id = any(${bind(organizationIds ?? null)}::text[])))`,
        ...filterConditions(filter, enterpriseId, bind),
      ],
    },
  ]);
  return count as Count;
}

function ofEnterprise(enterpriseId: string): Source {
  return ({ bind, where, order, limit }) => `
    select ${sessionColumns} from session s join organization o on o.id = s.organization_id
     where o.enterprise_id = ${bind(enterpriseId)} and o.deleted_at is null and ${where} ${order} limit ${limit}`;
}

/** Where the rows of a list of the newest first come from: a statement, given what narrows, orders and bounds it. */
type Source = (parts: {
  readonly bind: (value: unknown) => string;
  readonly where: string;
  readonly order: string;
  readonly limit: string;
}) => string;

async function readPage<R extends SessionRecord>(
  context: Context,
  source: Source,
  request: PageRequest & Pick<SessionListRequest, 'filter'>,
  limits: PageLimits,
): Promise<Page<R>> {
  const { filter = {} } = request;
  checkFilter(filter);
  const window = pageWindow(request, limits, (text) => readTimeCursor('sessions.createdAt', text));
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const where = ['true', ...filterConditions(filter, context.viewer.enterpriseId, bind)];
  if (window.after) where.push(beyond('<', bind(window.after.at), bind(window.after.id)));
  if (window.before) where.push(beyond('>', bind(window.before.at), bind(window.before.id)));
  const direction = window.backward ? 'asc' : 'desc';
  const sql = source({
    bind,
    where: where.join(' and '),
    order: `order by s.created_at ${direction}, s.id ${direction}`,
    limit: bind(window.limit + 1),
  });
  const rows = await readSessions<R>(context, sql, values);
  return toPage(rows, window, sessionCursor);
}

function beyond(side: '<' | '>', at: string, id: string): string {
  return `(s.created_at, s.id) ${side} (${at}::timestamptz, ${id}::text)`;
}
