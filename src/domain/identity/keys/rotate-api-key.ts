import { requireConfirmation } from '../../../auth/confirmation.ts';
import { newToken } from '../../../auth/tokens.ts';
import { type ApiKeyKind, endOfKey, ownerOf } from '../../../auth/viewer.ts';
import { DomainError, notFound } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import { type AuditAction, audit } from '../../audit/record-audit.ts';
import type { Context } from '../../context.ts';
import { type CreateOptions, findReplay } from '../../idempotency.ts';
import { newId } from '../../ids.ts';
import { managesServiceUsersOf, requireManagingSome } from '../people/list-service-users.ts';
import { requireNotAbove, requireOwnReach } from '../people/role-assignments.ts';
import { requireAssignableRole } from '../people/roles.ts';
import { type CreatedApiKey, insertApiKey, type NewApiKey } from './api-keys.ts';
import { checkExpiry } from './expiry.ts';
import { announceKeyChange } from './key-changes.ts';
import { type ApiKeyRecord, apiKeyColumns, getApiKey, isActive, type KeyPath, readApiKey } from './key-record.ts';

// The wire's enumeration has no word for the rotation of a legacy key: it is recorded as a creation.
const rotateAction = {
  PERSONAL: 'create_user_api_key',
  SERVICE: 'create_org_api_key',
  PERSONAL_ACCESS_TOKEN: 'rotate_pat',
  SERVICE_USER: 'rotate_service_user_api_key',
} as const satisfies Record<ApiKeyKind, AuditAction>;

/**
 * Options of a rotation. If omitted: the new key has the lifetime that the old one was created with, and the old one is
 * revoked at once.
 */
export interface RotateKeyInput {
  readonly newExpiresAt?: Date | null | undefined;
  readonly revokeCurrent?: boolean | null | undefined;
}

/**
 * Creates a key with the name, owner, organization and role of another key, and revokes that one unless the input keeps
 * it. The token is only in this result: a second call with the same idempotency key returns the new key without it.
 * Throws NOT_FOUND; INVALID_STATE for a key that is not active; FORBIDDEN if its owner may do more than the caller;
 * INVALID_INPUT at `newExpiresAt`.
 */
export function rotateApiKey(context: Context, path: KeyPath, input?: RotateKeyInput): Promise<NewApiKey>;
export function rotateApiKey(
  context: Context,
  path: KeyPath,
  input: RotateKeyInput,
  options: CreateOptions,
): Promise<CreatedApiKey>;
export async function rotateApiKey(
  context: Context,
  path: KeyPath,
  input: RotateKeyInput = {},
  options: CreateOptions = {},
): Promise<CreatedApiKey> {
  const seen = await getApiKey(context, path);
  requireConfirmation(context);
  const revokes = input.revokeCurrent ?? true;
  const id = newId();
  return context.store.transact(async (tx) => {
    const claim = {
      scope: seen.organizationId ?? context.viewer.enterpriseId,
      operation: 'rotateApiKey',
      input: { apiKeyId: seen.id, newExpiresAt: input.newExpiresAt, revokes },
      resultId: id,
    };
    const replay = await findReplay(context, tx, options, claim);
    if (replay !== null) {
      await requireReach(context, tx, seen, revokes);
      return { apiKey: await readApiKey(tx, replay), token: null };
    }
    const [current] = await tx.query<ApiKeyRecord>(
      `select ${apiKeyColumns} from api_key k where k.id = $1 for update`,
      [seen.id],
    );
    if (!current || !isActive(current, context.now())) {
      throw new DomainError('INVALID_STATE', 'The key is not active: it has been revoked or has expired.');
    }
    const expiresAt = input.newExpiresAt ?? renewed(context, current);
    checkExpiry(context, expiresAt, 'newExpiresAt');
    await requireReach(context, tx, current, revokes);
    const token = newToken(current.kind);
    const created = await insertApiKey(context, tx, { ...current, id, expiresAt }, token);
    if (revokes) {
      const change = { where: { id: current.id }, data: { revokedAt: context.now() } };
      await tx.prisma.apiKey.update({ ...change, select: { id: true } });
    }
    const data = { name: created.name, kind: created.kind, rotated: current.id, isRevoked: revokes };
    await audit(context, tx, rotateAction[created.kind], {
      organizationId: created.organizationId,
      targetId: id,
      data,
    });
    if (revokes) await announceKeyChange(context, tx);
    return { apiKey: created, token };
  });
}

// The renewal of a key that expires also expires, and not after the caller's key.
function renewed({ viewer, now }: Context, { createdAt, expiresAt }: ApiKeyRecord): Date | null {
  const ends = expiresAt && new Date(now().getTime() + expiresAt.getTime() - createdAt.getTime());
  const own = endOfKey(viewer);
  return ends && own && own < ends ? own : ends;
}

// A token grants everything that its owner may do: a caller can't get the token of an owner who may do more.
async function requireReach(context: Context, tx: Transaction, key: ApiKeyRecord, revokes: boolean): Promise<void> {
  const { viewer } = context;
  const own = ownerOf(viewer);
  // A key that replaces itself gains nothing.
  if (key.id === viewer.apiKeyId && revokes) return;
  if (key.userId !== null) {
    if (key.userId !== own.userId) return requireNotAbove(context, { userId: key.userId }, tx);
    // The viewer's own key, but of another kind or organization: a key of one organization can't get one with a wider
    // scope.
    const isAlike = key.kind === 'PERSONAL' && key.organizationId === viewer.homeOrganizationId;
    if (viewer.keyKind === 'PERSONAL' && !isAlike) await requireOwnReach(context, key.userId, tx);
    return;
  }
  // Also in addition to the old key: a leaked key must not outlive its rotation through other keys that it created.
  requireManagingSome(context);
  if (!managesServiceUsersOf(context, key.organizationId)) throw notFound('key');
  if (key.serviceUserId !== null) {
    if (key.serviceUserId === own.serviceUserId) return;
    return requireNotAbove(context, { serviceUserId: key.serviceUserId }, tx);
  }
  const scope = key.organizationId === null ? 'enterprise' : 'organization';
  await requireAssignableRole(context, key.roleId ?? '', scope, key.organizationId, { tx });
}
