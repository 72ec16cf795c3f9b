import { permissionFor } from '../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../auth/viewer.ts';
import type { Context } from '../context.ts';
import { DomainError, refuse } from '../errors.ts';
import { type NestedList, organizationOwners } from '../nested-pages.ts';
import { requireUsable, useOrganization } from '../organizations/use-organization.ts';
import {
  type Page,
  type PageLimits,
  type PageRequest,
  pageWindow,
  readTimeCursor,
  type TimeCursor,
  toPage,
  writeCursor,
} from '../pages.ts';
import { getServiceUser } from '../people/list-service-users.ts';
import { type ApiKeyRecord, apiKeyColumns, visibleKeys } from './key-record.ts';

/** Whose keys: of an organization, of a service user, the viewer's own, or all of the enterprise. */
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

/** Which keys of a list. */
export type KeyStatus = keyof typeof conditions;
/** Every {@link KeyStatus}. */
export const keyStatuses = Object.keys(conditions) as KeyStatus[];

/**
 * Keys, newest first: of those in the scope the ones that the viewer may see. FORBIDDEN for who may see none of an
 * organization's or of the enterprise's; ORGANIZATION_NOT_USABLE, NOT_FOUND, INVALID_INPUT.
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

/**
 * One page of the keys of each of these service users, by bare ids, newest first, in the ids' order and in one statement:
 * those that the viewer may see, which is none of a service user that it neither is nor manages.
 */
export async function listServiceUserKeys(
  context: Context,
  serviceUserIds: readonly string[],
  status: string,
  request: PageRequest,
  limits: PageLimits,
): Promise<Page<ApiKeyRecord>[]> {
  const { window, values, bind, where, direction, order, cursorOf } = startList(context, status, request, limits);
  const rows = await context.store.query<ApiKeyRecord>(
    `select k.* from unnest(${bind(serviceUserIds)}::text[]) p(id) cross join lateral (
       select ${apiKeyColumns} from api_key k where k.service_user_id = p.id and ${where.join(' and ')}
        order by ${order} limit ${bind(window.limit + 1)}) k
      order by k."createdAt" ${direction}, k.id ${direction}`,
    values,
  );
  const found = new Map<string, ApiKeyRecord[]>(serviceUserIds.map((id) => [id, []]));
  for (const key of rows) found.get(key.serviceUserId ?? '')?.push(key);
  return serviceUserIds.map((id) => toPage(found.get(id) ?? [], window, cursorOf));
}

/** Keys of an organization that has been read, by its bare id, as one of many such lists. Errors as {@link listApiKeys}. */
export function keysOf(context: Context, organizationId: string, status: string): NestedList<ApiKeyRecord> {
  requireUsable(context, organizationId, permissionFor.manageOrganizationKeys);
  const wanted = parseStatus(status);
  return {
    key: `keys ${wanted}`,
    name: 'keys',
    ownerId: organizationId,
    row: 'k',
    table: 'api_key',
    columns: apiKeyColumns,
    owners: organizationOwners(context.viewer.enterpriseId),
    where: (bind) => [
      'k.organization_id = owner.id',
      visibleKeys(context, bind),
      ...statusConditions(context, wanted, bind),
    ],
  };
}

function parseStatus(status: string): KeyStatus {
  if (Object.hasOwn(conditions, status)) return status as KeyStatus;
  throw refuse(['status'], `"status" must be one of ${keyStatuses.join(', ')}.`);
}

function statusConditions(context: Context, wanted: KeyStatus, bind: (value: unknown) => string): string[] {
  const isByTime = wanted === 'active' || wanted === 'expired';
  return isByTime ? conditions[wanted](`${bind(context.now())}::timestamptz`) : conditions[wanted]();
}

// What all lists of keys have in common: which window of them, which of them, and in which order.
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
      if (!viewer.enterprisePermissions.has(permissionFor.manageUserKeys)) {
        requireEnterprisePermission(viewer, permissionFor.manageEnterpriseServiceKeys);
      }
      return [];
    }
    default:
      throw new DomainError('INVALID_INPUT', 'Unknown scope.');
  }
}
