import { permissionFor } from '../../../auth/permissions.ts';
import { type ApiKeyKind, organizationsWith, ownerOf } from '../../../auth/viewer.ts';
import type { Transaction } from '../../../store/store.ts';
import type { Context } from '../../context.ts';
import { notFound } from '../../errors.ts';
import { inOrderOf } from '../../find-by-ids.ts';
import { parseId } from '../../ids.ts';

/** A key as it may be shown: never its token. */
export interface ApiKeyRecord {
  readonly id: string;
  readonly kind: ApiKeyKind;
  readonly name: string;
  /** The token's first characters. */
  readonly display: string;
  readonly enterpriseId: string;
  /** The one organization that it acts in; of a SERVICE_USER key, its service user's. */
  readonly organizationId: string | null;
  readonly userId: string | null;
  readonly serviceUserId: string | null;
  readonly roleId: string | null;
  readonly createdAt: Date;
  /** Up to half a minute late. */
  readonly lastUsedAt: Date | null;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
}

/** The columns of an {@link ApiKeyRecord} of an `api_key` aliased `k`. */
export const apiKeyColumns = `k.id, k.kind, k.name, k.display, k.enterprise_id as "enterpriseId",
  k.organization_id as "organizationId", k.user_id as "userId", k.service_user_id as "serviceUserId", k.role_id as "roleId",
  k.created_at as "createdAt", k.last_used_at as "lastUsedAt", k.expires_at as "expiresAt", k.revoked_at as "revokedAt"`;

/**
 * The condition on an `api_key` aliased `k` to be one that the viewer may see, end and rotate: its own; those of services
 * where it manages service users; those of users where it manages users. A key that acts in one organization reaches no
 * keys of its user for another one.
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

/** The keys of these bare ids that the viewer may see, in the ids' order; null for each other. One statement. */
export async function findApiKeys(context: Context, ids: readonly string[]): Promise<(ApiKeyRecord | null)[]> {
  const values: unknown[] = [ids];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const rows = await context.store.query<ApiKeyRecord>(
    `select ${apiKeyColumns} from api_key k where k.id = any($1::text[]) and ${visibleKeys(context, bind)}`,
    values,
  );
  return inOrderOf(ids, rows);
}

/** Which key is meant: its id in any form, and whose it must be where the path says so. */
export interface KeyPath {
  readonly apiKeyId: string;
  readonly serviceUserId?: string | undefined;
}

/** A key that the viewer may see. NOT_FOUND. */
export async function getApiKey(context: Context, path: KeyPath): Promise<ApiKeyRecord> {
  const id = parseId('apiKey', path.apiKeyId);
  const [key] = id === null ? [] : await findApiKeys(context, [id]);
  const owner = path.serviceUserId === undefined ? null : (parseId('serviceUser', path.serviceUserId) ?? '');
  if (!key || (owner !== null && key.serviceUserId !== owner)) throw notFound('key');
  return key;
}

/** A key by its bare id, for a caller that may see it. NOT_FOUND when there is none any longer. */
export async function readApiKey(tx: Transaction, id: string): Promise<ApiKeyRecord> {
  const [key] = await tx.query<ApiKeyRecord>(`select ${apiKeyColumns} from api_key k where k.id = $1`, [id]);
  if (!key) throw notFound('key');
  return key;
}

/** Whether a key can be used, as far as it itself says. */
export function isActive(key: Pick<ApiKeyRecord, 'revokedAt' | 'expiresAt'>, now: Date): boolean {
  return key.revokedAt === null && (key.expiresAt === null || key.expiresAt > now);
}
