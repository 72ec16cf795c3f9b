import { permissionFor } from '../../../auth/permissions.ts';
import { type ApiKeyKind, requireEnterprisePermission } from '../../../auth/viewer.ts';
import { DomainError } from '../../../common/errors.ts';
import { type AuditAction, audit } from '../../audit/record-audit.ts';
import type { Context } from '../../context.ts';
import { announceKeyChange } from './key-changes.ts';
import { type ApiKeyRecord, apiKeySelection, getApiKey, type KeyPath } from './key-record.ts';

const revokeAction = {
  PERSONAL: 'revoke_enterprise_api_key',
  SERVICE: 'revoke_enterprise_api_key',
  PERSONAL_ACCESS_TOKEN: 'revoke_pat',
  SERVICE_USER: 'revoke_service_user_api_key',
} as const satisfies Record<ApiKeyKind, AuditAction>;

/**
 * Revokes a key permanently, even the caller's own: its requests get 401 from then on, and its sockets and streams
 * close. Throws NOT_FOUND for a key that the viewer may not see, INVALID_STATE for one that is revoked already.
 */
export async function revokeApiKey(context: Context, path: KeyPath): Promise<ApiKeyRecord> {
  const seen = await getApiKey(context, path);
  return context.store.transact(async (tx) => {
    const [row] = await tx.prisma.apiKey.updateManyAndReturn({
      where: { id: seen.id, revokedAt: null },
      data: { revokedAt: context.now() },
      select: apiKeySelection,
    });
    const key = row as ApiKeyRecord | undefined;
    if (!key) throw new DomainError('INVALID_STATE', 'The key has been revoked before.');
    const { organizationId, id: targetId, name, kind } = key;
    await audit(context, tx, revokeAction[kind], { organizationId, targetId, data: { name, kind } });
    await announceKeyChange(context, tx);
    return key;
  });
}

/**
 * Revokes every key of users and every service key in all organizations of the enterprise, including the caller's own
 * key if it is one; keys of service users stay (docs/wire/v2.md#revoke-all-keys). Returns their number. Throws FORBIDDEN
 * unless the viewer manages all of these.
 */
export async function revokeAllApiKeys(context: Context): Promise<number> {
  requireKeyAdministrator(context);
  return context.store.transact(async (tx) => {
    const kinds: ApiKeyKind[] = ['PERSONAL', 'SERVICE', 'PERSONAL_ACCESS_TOKEN'];
    const { count } = await tx.prisma.apiKey.updateMany({
      where: { enterpriseId: context.viewer.enterpriseId, revokedAt: null, kind: { in: kinds } },
      data: { revokedAt: context.now() },
    });
    await audit(context, tx, 'revoke_all_enterprise_api_keys', { organizationId: null, data: { count } });
    await announceKeyChange(context, tx);
    return count;
  });
}

/**
 * Throws FORBIDDEN with the permission's name unless the viewer manages every kind of key of the enterprise, as
 * account_admin does.
 */
export function requireKeyAdministrator(context: Context): void {
  requireEnterprisePermission(context.viewer, permissionFor.revokeAllKeys);
  requireEnterprisePermission(context.viewer, permissionFor.manageUserKeys);
  requireEnterprisePermission(context.viewer, permissionFor.manageEnterpriseServiceKeys);
}
