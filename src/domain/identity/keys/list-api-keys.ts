import { permissionFor } from '../../../auth/permissions.ts';
import { type ApiKeyKind, requireEnterprisePermission, type Viewer } from '../../../auth/viewer.ts';
import { DomainError, refuse } from '../../../common/errors.ts';
import type { Context } from '../../context.ts';
import { checkListFilter, type ListFilter, listFilterConditions, oneOfConditions } from '../../list-filter.ts';
import { type NestedList, organizationOwners } from '../../nested-pages.ts';
import {
  type Page,
  type PageLimits,
  type PageRequest,
  pageWindow,
  readTimeCursor,
  type TimeCursor,
  toPage,
  writeCursor,
} from '../../pages.ts';
import { inOrder, type ListOrder } from '../../sorted-pages.ts';
import { requireUsable, useOrganization } from '../organizations/use-organization.ts';
import { getServiceUser } from '../people/list-service-users.ts';
import { type ApiKeyRecord, apiKeyColumns, visibleKeys } from './key-record.ts';

/** The keys of a list: of an organization, of a service user, the viewer's own, or all of the enterprise. */
export type KeyScope =
  | { readonly of: 'organization'; readonly organizationId: string }
  | { readonly of: 'serviceUser'; readonly serviceUserId: string }
  | { readonly of: 'viewer' }
  | { readonly of: 'enterprise' };

const conditions = {
  all: () => [],
  active: (now: string) => ['k.revoked_at is null', `(k.expires_at is null or k.expires_at > ${now})`],
  expired: (now: string) => ['k.revoked_at is null', `k.expires_at <= ${now}`],
  revoked: () => ['k.revoked_at is not null'],
} as const satisfies Record<string, (now: string) => string[]>;

/** The status that a list selects. */
export type KeyStatus = keyof typeof conditions;
/** Every {@link KeyStatus}. */
export const keyStatuses = Object.keys(conditions) as KeyStatus[];

/**
 * Lists the keys of a scope that the viewer may see, newest first. Throws FORBIDDEN for a viewer that may see none of
 * an organization's or of the enterprise's keys; ORGANIZATION_NOT_USABLE, NOT_FOUND, INVALID_INPUT.
 */
export async function listApiKeys(
  context: Context,
  scope: KeyScope,
  status: string,
  request: PageRequest,
  limits: PageLimits,
): Promise<Page<ApiKeyRecord>> {
  const { window, values, bind, where, order, cursorOf } = startList(context, status, request, limits);
  where.push(...(await scopeConditions(context, scope, bind)));
  const rows = await context.store.query<ApiKeyRecord>(
    `select ${apiKeyColumns} from api_key k where ${where.join(' and ')} order by ${order} limit ${bind(window.limit + 1)}`,
    values,
  );
  return toPage(rows, window, cursorOf);
}

/** Conditions of a list of keys; ids are unprefixed. `search`: in the name. */
export interface KeyFilter extends Omit<ListFilter, 'createdBy'> {
  /** `active` if omitted. */
  readonly status?: KeyStatus | undefined;
  readonly kinds?: readonly ApiKeyKind[] | undefined;
  readonly userId?: string | undefined;
  readonly serviceUserId?: string | undefined;
}

/**
 * The owner of the keys of a list: an organization or a service user, by unprefixed ids, the viewer itself, or the
 * enterprise.
 */
export type KeyListScope =
  | { readonly of: 'organization' | 'serviceUser'; readonly id: string }
  | { readonly of: 'viewer' | 'enterprise' };

/**
 * Returns the keys of a scope that the viewer may see, as a nested list. It is empty for a service user that the viewer
 * neither is nor manages. Throws FORBIDDEN for a viewer that may see none of an organization's or of the enterprise's
 * keys; ORGANIZATION_NOT_USABLE, INVALID_INPUT.
 */
export function keysOf(
  context: Context,
  scope: KeyListScope,
  filter: KeyFilter = {},
  order?: ListOrder<'createdAt'> | null,
): NestedList<ApiKeyRecord> {
  const { viewer } = context;
  const { ownerId, owners = () => '', where } = ownedKeys(context, scope);
  checkListFilter(filter);
  const { status = 'active', kinds, userId, serviceUserId } = filter;
  return {
    ...inOrder('keys', order, {}),
    key: `keys ${JSON.stringify([scope.of, filter, order])}`,
    ownerId,
    row: 'k',
    table: 'api_key',
    columns: apiKeyColumns,
    owners,
    where: (bind) => [
      ...where,
      `k.enterprise_id = ${bind(viewer.enterpriseId)}`,
      visibleKeys(context, bind),
      ...statusConditions(context, status, bind),
      ...oneOfConditions('k.kind', kinds, bind),
      ...(userId === undefined ? [] : [`k.user_id = ${bind(userId)}`]),
      ...(serviceUserId === undefined ? [] : [`k.service_user_id = ${bind(serviceUserId)}`]),
      ...listFilterConditions('k', filter, ['name'], bind),
    ],
  };
}

function ownedKeys(
  context: Context,
  scope: KeyListScope,
): Pick<NestedList<ApiKeyRecord>, 'ownerId'> & Partial<Pick<NestedList<ApiKeyRecord>, 'owners'>> & { where: string[] } {
  const { viewer } = context;
  switch (scope.of) {
    case 'organization':
      requireUsable(context, scope.id, permissionFor.manageOrganizationKeys);
      return {
        ownerId: scope.id,
        owners: organizationOwners(viewer.enterpriseId),
        where: ['k.organization_id = owner.id'],
      };
    case 'serviceUser':
      return { ownerId: scope.id, where: ['k.service_user_id = owner.id'] };
    case 'viewer':
      return viewer.principal.type === 'SERVICE_KEY'
        ? { ownerId: viewer.apiKeyId ?? '', where: ['k.id = owner.id'] }
        : {
            ownerId: viewer.principal.id,
            where: [`k.${viewer.principal.type === 'USER' ? 'user_id' : 'service_user_id'} = owner.id`],
          };
    case 'enterprise':
      requireSomeKeys(viewer);
      return { ownerId: viewer.enterpriseId, where: [] };
  }
}

// A viewer that manages either the users' keys or those of services sees these of the enterprise's keys.
function requireSomeKeys(viewer: Viewer): void {
  if (viewer.enterprisePermissions.has(permissionFor.manageUserKeys)) return;
  requireEnterprisePermission(viewer, permissionFor.manageEnterpriseServiceKeys);
}

function parseStatus(status: string): KeyStatus {
  if (Object.hasOwn(conditions, status)) return status as KeyStatus;
  throw refuse(['status'], `"status" must be one of ${keyStatuses.join(', ')}.`);
}

function statusConditions(context: Context, wanted: KeyStatus, bind: (value: unknown) => string): string[] {
  const isByTime = wanted === 'active' || wanted === 'expired';
  return isByTime ? conditions[wanted](`${bind(context.now())}::timestamptz`) : conditions[wanted]();
}

// The common part of all lists of keys: window, conditions and order.
function startList(context: Context, status: string, request: PageRequest, limits: PageLimits) {
  const window = pageWindow(request, limits, (text) => readTimeCursor('keys', text));
  const wanted = parseStatus(status);
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const where = [visibleKeys(context, bind), ...statusConditions(context, wanted, bind)];
  const position = (sign: string, cursor: TimeCursor) =>
    `(k.created_at, k.id) ${sign} (${bind(cursor.at)}::timestamptz, ${bind(cursor.id)})`;
  if (window.after) where.push(position('<', window.after));
  if (window.before) where.push(position('>', window.before));
  const direction = window.backward ? 'asc' : 'desc';
  const order = `k.created_at ${direction}, k.id ${direction}`;
  const cursorOf = (key: ApiKeyRecord) => writeCursor('keys', key.createdAt.getTime(), key.id);
  return { window, values, bind, where, direction, order, cursorOf };
}

async function scopeConditions(context: Context, scope: KeyScope, bind: (value: unknown) => string): Promise<string[]> {
  const { viewer } = context;
  switch (scope.of) {
    case 'organization': {
      const { id } = await useOrganization(context, scope.organizationId, permissionFor.manageOrganizationKeys);
      return [`k.organization_id = ${bind(id)}`];
    }
    case 'serviceUser': {
      const { id } = await getServiceUser(context, scope.serviceUserId);
      return [`k.service_user_id = ${bind(id)}`];
    }
    case 'viewer': {
      if (viewer.principal.type === 'SERVICE_KEY') return [`k.id = ${bind(viewer.apiKeyId)}`];
      const column = viewer.principal.type === 'USER' ? 'user_id' : 'service_user_id';
      return [`k.${column} = ${bind(viewer.principal.id)}`];
    }
    case 'enterprise': {
      requireSomeKeys(viewer);
      return [];
    }
    default:
      throw new DomainError('INVALID_INPUT', 'Unknown scope.');
  }
}
