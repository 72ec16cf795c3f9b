import { permissionFor } from '../../../auth/permissions.ts';
import { type ApiKeyKind, organizationsWith, ownerOf } from '../../../auth/viewer.ts';
import { notFound } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import { fieldsOf, type Row, selectFields, selectionOf } from '../../../store/tables.ts';
import type { Context } from '../../context.ts';
import { inOrderOf } from '../../find-by-ids.ts';
import { parseId } from '../../ids.ts';

const apiKeyFields = fieldsOf('ApiKey', ['tokenHash', 'createdById']);

/**
 * A key without its token. `organizationId`: the one organization that it acts in; of a SERVICE_USER key, its service
 * user's. `display`: the token's first characters. `lastUsedAt` may be half a minute late.
 */
export interface ApiKeyRecord extends Pick<Row<'ApiKey'>, (typeof apiKeyFields)[number]> {
  readonly kind: ApiKeyKind;
}

/** The columns of an {@link ApiKeyRecord} of an `api_key` aliased `k`. */
export const apiKeyColumns = selectFields('ApiKey', 'k', apiKeyFields);
/** The same for the Prisma client. */
export const apiKeySelection = selectionOf(apiKeyFields);

/**
 * Returns the condition under which the viewer may see, revoke and rotate an `api_key` aliased `k`: its own keys; those
 * of services if it manages service users; those of users if it manages users. A key that acts in one organization
 * can't see its user's keys for another one.
 */
export function visibleKeys(context: Context, bind: (value: unknown) => string): string {
  const { viewer } = context;
  const { userId, serviceUserId } = ownerOf(viewer);
  const services = organizationsWith(viewer, permissionFor.manageOrganizationKeys);
  const own = [`k.id = ${bind(viewer.apiKeyId)}`];
  if (serviceUserId !== null) own.push(`k.service_user_id = ${bind(serviceUserId)}`);
  if (userId !== null) {
    const bound = viewer.keyKind === 'PERSONAL' ? ` and k.organization_id = ${bind(viewer.homeOrganizationId)}` : '';
    own.push(`k.user_id = ${bind(userId)}${bound}`);
  }
  const managed: string[] = [];
  if (viewer.enterprisePermissions.has(permissionFor.manageUserKeys)) managed.push('k.user_id is not null');
  if (viewer.enterprisePermissions.has(permissionFor.manageEnterpriseServiceKeys)) managed.push('k.user_id is null');
  if (services.all || services.ids.length > 0) {
    const where = services.all
      ? 'k.organization_id is not null'
      : `k.organization_id = any(${bind(services.ids)}::text[])`;
    managed.push(`(k.user_id is null and ${where})`);
  }
  return `k.enterprise_id = ${bind(viewer.enterpriseId)} and (${[...own, ...managed].join(' or ')})
    and not exists (select 1 from organization gone where gone.id = k.organization_id and gone.deleted_at is not null)`;
}

/**
 * Returns the keys of these unprefixed ids that the viewer may see, in the ids' order; null for each other id. One
 * statement.
 */
export async function findApiKeys(context: Context, ids: readonly string[]): Promise<(ApiKeyRecord | null)[]> {
  const values: unknown[] = [ids];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const rows = await context.store.query<ApiKeyRecord>(
    `select ${apiKeyColumns} from api_key k where k.id = any($1::text[]) and ${visibleKeys(context, bind)}`,
    values,
  );
  return inOrderOf(ids, rows);
}

/** Identifies a key: its id in any form, and its owner if the path names it. */
export interface KeyPath {
  readonly apiKeyId: string;
  readonly serviceUserId?: string | undefined;
}

/** Returns a key that the viewer may see. Throws NOT_FOUND. */
export async function getApiKey(context: Context, path: KeyPath): Promise<ApiKeyRecord> {
  const id = parseId('apiKey', path.apiKeyId);
  const [key] = id === null ? [] : await findApiKeys(context, [id]);
  const owner = path.serviceUserId === undefined ? null : (parseId('serviceUser', path.serviceUserId) ?? '');
  if (!key || (owner !== null && key.serviceUserId !== owner)) throw notFound('key');
  return key;
}

/** Reads a key by its unprefixed id, for a caller that may see it. Throws NOT_FOUND if it no longer exists. */
export async function readApiKey(tx: Transaction, id: string): Promise<ApiKeyRecord> {
  const key = await tx.prisma.apiKey.findUnique({ where: { id }, select: apiKeySelection });
  if (!key) throw notFound('key');
  return key as ApiKeyRecord;
}

/** Tells if a key is neither revoked nor expired. */
export function isActive(key: Pick<ApiKeyRecord, 'revokedAt' | 'expiresAt'>, now: Date): boolean {
  return key.revokedAt === null && (key.expiresAt === null || key.expiresAt > now);
}
