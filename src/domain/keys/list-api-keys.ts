import { permissionFor } from '../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../auth/viewer.ts';
import type { Context } from '../context.ts';
import { DomainError, refuse } from '../errors.ts';
import { useOrganization } from '../organizations/use-organization.ts';
import {
  type Page,
  type PageLimits,
  type PageRequest,
  pageWindow,
  readTimeCursor,
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
  const window = pageWindow(request, limits, (text) => readTimeCursor('keys', text));
  if (!Object.hasOwn(conditions, status)) {
    throw refuse(['status'], `"status" must be one of ${keyStatuses.join(', ')}.`);
  }
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const where = [...(await scopeConditions(context, scope, bind)), visibleKeys(context, bind)];
  const wanted = status as KeyStatus;
  if (wanted !== 'all')
    where.push(...conditions[wanted](wanted === 'revoked' ? '' : `${bind(context.now())}::timestamptz`));
  const position = (sign: string, cursor: { at: Date; id: string }) =>
    `(k.created_at, k.id) ${sign} (${bind(cursor.at)}::timestamptz, ${bind(cursor.id)})`;
  if (window.after) where.push(position('<', window.after));
  if (window.before) where.push(position('>', window.before));
  const direction = window.backward ? 'asc' : 'desc';
  const rows = await context.store.query<ApiKeyRecord>(
    `select ${apiKeyColumns} from api_key k where ${where.join(' and ')}
      order by k.created_at ${direction}, k.id ${direction} limit ${bind(window.limit + 1)}`,
    values,
  );
  return toPage(rows, window, (key) => writeCursor('keys', key.createdAt.getTime(), key.id));
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
