import { z } from 'zod';
import { requireConfirmation } from '../../../auth/confirmation.ts';
import { permissionFor } from '../../../auth/permissions.ts';
import { displayToken, newToken } from '../../../auth/tokens.ts';
import { type ApiKeyKind, ownerOf, requireEnterprisePermission } from '../../../auth/viewer.ts';
import { DomainError, notFound, refuse } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import { type AuditAction, audit } from '../../audit/record-audit.ts';
import type { Context } from '../../context.ts';
import { type CreateOptions, findReplay } from '../../idempotency.ts';
import { newId, parseId } from '../../ids.ts';
import { parseInput, text } from '../../input.ts';
import { chooseOrganization, useOrganization } from '../organizations/use-organization.ts';
import { findServiceUsers, findUsers } from '../people/find-people.ts';
import { managesServiceUsersOf, requireManagingSome } from '../people/list-service-users.ts';
import { lockPrincipal } from '../people/lock-principal.ts';
import { requireNotAbove, requireOwnReach } from '../people/role-assignments.ts';
import { requireAssignableRole } from '../people/roles.ts';
import { checkExpiry } from './expiry.ts';
import { type ApiKeyRecord, readApiKey } from './key-record.ts';

/** The values of a new key that all kinds have, in inputs. */
export const apiKeySchema = z.object({ name: text('name', { min: 1, max: 256 }), expiresAt: z.date().nullish() });

/** Owner, organization and role of a key of each kind. Ids in any form. */
interface Holders {
  /** If omitted: the caller, and the organization that the caller's key is bound to. */
  readonly PERSONAL: {
    readonly userId?: string | null | undefined;
    readonly organizationId?: string | null | undefined;
  };
  /** If omitted: the caller. */
  readonly PERSONAL_ACCESS_TOKEN: { readonly userId?: string | null | undefined };
  /** `organizationId` null: the enterprise, with a role of enterprise scope. */
  readonly SERVICE: { readonly organizationId: string | null; readonly roleId: string };
  readonly SERVICE_USER: { readonly serviceUserId: string };
}

/** The input of a new key. */
export type CreateApiKeyInput = z.input<typeof apiKeySchema> &
  { [Kind in ApiKeyKind]: { readonly kind: Kind } & Holders[Kind] }[ApiKeyKind];

type Owner = Pick<ApiKeyRecord, 'organizationId' | 'userId' | 'serviceUserId' | 'roleId'>;

const auditAction = {
  PERSONAL: 'create_user_api_key',
  SERVICE: 'create_org_api_key',
  PERSONAL_ACCESS_TOKEN: 'create_pat',
  SERVICE_USER: 'create_service_user_api_key',
} as const satisfies Record<ApiKeyKind, AuditAction>;

/** A new key with its token. */
export interface NewApiKey {
  readonly apiKey: ApiKeyRecord;
  readonly token: string;
}

/** A new key and its token; null: an earlier call with the same idempotency key created the key. */
export interface CreatedApiKey {
  readonly apiKey: ApiKeyRecord;
  readonly token: string | null;
}

/**
 * Creates a key. The token is only in this result: the database stores its HMAC, so a second call with the same
 * idempotency key returns the key without it. Throws INVALID_INPUT, FORBIDDEN, NOT_FOUND, IDEMPOTENCY_CONFLICT.
 */
export function createApiKey(context: Context, raw: CreateApiKeyInput): Promise<NewApiKey>;
export function createApiKey(context: Context, raw: CreateApiKeyInput, options: CreateOptions): Promise<CreatedApiKey>;
export async function createApiKey(
  context: Context,
  raw: CreateApiKeyInput,
  options: CreateOptions = {},
): Promise<CreatedApiKey> {
  const { name, expiresAt = null } = parseInput(apiKeySchema, raw);
  checkExpiry(context, expiresAt);
  const owner = await ownerOfNew(context, raw);
  requireConfirmation(context);
  const { kind } = raw;
  return context.store.transact(async (tx) => {
    await lockOwner(context, tx, owner);
    const id = newId();
    const claim = {
      scope: owner.organizationId ?? context.viewer.enterpriseId,
      operation: 'createApiKey',
      input: { kind, name, expiresAt, ...owner },
      resultId: id,
    };
    const replay = await findReplay(context, tx, options, claim);
    if (replay !== null) return { apiKey: await readApiKey(tx, replay), token: null };
    return writeKey(context, tx, { id, kind, name, expiresAt, ...owner });
  });
}

// Checks that the owner and the role still exist, and locks them so that neither can be deleted before the key is
// written.
async function lockOwner(context: Context, tx: Transaction, owner: Owner): Promise<void> {
  const { userId, serviceUserId, roleId, organizationId } = owner;
  if (userId !== null) await lockPrincipal(context, tx, { userId });
  if (serviceUserId !== null) await lockPrincipal(context, tx, { serviceUserId });
  if (roleId === null) return;
  const scope = organizationId === null ? 'enterprise' : 'organization';
  await requireAssignableRole(context, roleId, scope, organizationId, { tx });
}

/** Creates the first key of a new service user, in the same transaction, whose permission check covers the key. */
export function createKeyOf(
  context: Context,
  tx: Transaction,
  serviceUser: { readonly id: string; readonly organizationId: string | null },
  key: { readonly name: string; readonly expiresAt: Date | null },
): Promise<NewApiKey> {
  const { id: serviceUserId, organizationId } = serviceUser;
  return writeKey(context, tx, {
    kind: 'SERVICE_USER',
    ...key,
    serviceUserId,
    organizationId,
    userId: null,
    roleId: null,
  });
}

async function writeKey(context: Context, tx: Transaction, key: NewKey): Promise<NewApiKey> {
  const token = newToken(key.kind);
  const { enterpriseId } = context.viewer;
  const apiKey = await insertApiKey(context, tx, { ...key, enterpriseId }, token);
  await auditKey(context, tx, apiKey);
  return { apiKey, token };
}

async function auditKey(context: Context, tx: Transaction, key: ApiKeyRecord, more: object = {}): Promise<void> {
  const { id: targetId, organizationId, kind, name } = key;
  await audit(context, tx, auditAction[kind], { organizationId, targetId, data: { kind, name, ...more } });
}

/** Kind and owner of a key that acts as the viewer. */
export type OwnKey = Owner & Pick<ApiKeyRecord, 'kind'>;

/**
 * Returns what a key needs to act as the viewer: of a user, a personal access token; of a service user that may manage service users, a
 * key. Throws FORBIDDEN.
 */
export async function requireOwnKey(context: Context): Promise<OwnKey> {
  const { userId, serviceUserId } = ownerOf(context.viewer);
  if (userId !== null) return { kind: 'PERSONAL_ACCESS_TOKEN', ...(await ownerOfAccessToken(context, {})) };
  if (serviceUserId !== null)
    return { kind: 'SERVICE_USER', ...(await ownerOfServiceUser(context, { serviceUserId })) };
  throw new DomainError(
    'FORBIDDEN',
    'Only users and service users can give a program access. You act with a service key.',
  );
}

/**
 * Creates a key that acts as the viewer, whose token another program has. The caller has checked the name, the expiry, the confirmation
 * and {@link requireOwnKey}.
 */
export async function createOwnKey(
  context: Context,
  tx: Transaction,
  key: OwnKey & Pick<ApiKeyRecord, 'name' | 'expiresAt'>,
  stored: StoredToken,
): Promise<ApiKeyRecord> {
  await lockOwner(context, tx, key);
  const apiKey = await insertKeyRow(context, tx, { ...key, enterpriseId: context.viewer.enterpriseId }, stored);
  await auditKey(context, tx, apiKey, { isDevice: true });
  return apiKey;
}

type NewKey = Owner & Pick<ApiKeyRecord, 'kind' | 'name' | 'expiresAt'> & Partial<Pick<ApiKeyRecord, 'id'>>;

/** A token as the database has it. */
export interface StoredToken {
  /** HMAC-SHA-256 of the token under the pepper, in hex. */
  readonly tokenHash: string;
  /** The part of the token that may be shown. */
  readonly display: string;
}

/** Writes a key's row for a token, without checks. Used by {@link createApiKey} and by the first start. */
export function insertApiKey(
  context: Pick<Context, 'keyring' | 'now'>,
  tx: Transaction,
  key: NewKey & Pick<ApiKeyRecord, 'enterpriseId'>,
  token: string,
): Promise<ApiKeyRecord> {
  const stored = { tokenHash: context.keyring.hashToken(token), display: displayToken(token) };
  return insertKeyRow(context, tx, key, stored);
}

async function insertKeyRow(
  context: Pick<Context, 'now'>,
  tx: Transaction,
  key: NewKey & Pick<ApiKeyRecord, 'enterpriseId'>,
  { tokenHash, display }: StoredToken,
): Promise<ApiKeyRecord> {
  const record: ApiKeyRecord = {
    id: key.id ?? newId(),
    kind: key.kind,
    name: key.name,
    display,
    enterpriseId: key.enterpriseId,
    organizationId: key.organizationId,
    userId: key.userId,
    serviceUserId: key.serviceUserId,
    roleId: key.roleId,
    createdAt: context.now(),
    lastUsedAt: null,
    expiresAt: key.expiresAt,
    revokedAt: null,
  };
  await tx.prisma.apiKey.create({ data: { ...record, tokenHash } });
  return record;
}

// Returns the owner of a new key of each kind, after a check that the caller may create it.
function ownerOfNew(context: Context, input: CreateApiKeyInput): Promise<Owner> {
  switch (input.kind) {
    case 'PERSONAL':
      return ownerOfPersonal(context, input);
    case 'PERSONAL_ACCESS_TOKEN':
      return ownerOfAccessToken(context, input);
    case 'SERVICE':
      return ownerOfService(context, input);
    case 'SERVICE_USER':
      return ownerOfServiceUser(context, input);
  }
}

async function ownerOfPersonal(context: Context, input: Holders['PERSONAL']): Promise<Owner> {
  const userId = await chooseUser(context, input.userId);
  const organization = await chooseOrganization(context, input.organizationId, permissionFor.viewSession);
  return { organizationId: organization.id, userId, serviceUserId: null, roleId: null };
}

async function ownerOfAccessToken(context: Context, input: Holders['PERSONAL_ACCESS_TOKEN']): Promise<Owner> {
  const userId = await chooseUser(context, input.userId);
  // A key can't create one with a wider scope: a key of one organization can't create one for all of its user's
  // organizations.
  if (context.viewer.keyKind === 'PERSONAL') {
    requireEnterprisePermission(context.viewer, permissionFor.manageUserKeys);
    await requireOwnReach(context, userId);
  }
  return { organizationId: null, userId, serviceUserId: null, roleId: null };
}

async function ownerOfService(context: Context, input: Holders['SERVICE']): Promise<Owner> {
  if (input.organizationId === null) {
    requireEnterprisePermission(context.viewer, permissionFor.manageEnterpriseServiceKeys);
    const role = await requireAssignableRole(context, input.roleId, 'enterprise', null);
    return { organizationId: null, userId: null, serviceUserId: null, roleId: role.id };
  }
  const organization = await useOrganization(context, input.organizationId, permissionFor.createServiceKey);
  const role = await requireAssignableRole(context, input.roleId, 'organization', organization.id);
  return { organizationId: organization.id, userId: null, serviceUserId: null, roleId: role.id };
}

async function ownerOfServiceUser(context: Context, input: Holders['SERVICE_USER']): Promise<Owner> {
  const id = parseId('serviceUser', input.serviceUserId);
  // Also for the viewer itself: a leaked key must not outlive its rotation through other keys that it created.
  requireManagingSome(context);
  const [serviceUser] = id === null ? [] : await findServiceUsers(context, [id]);
  if (!serviceUser || !managesServiceUsersOf(context, serviceUser.organizationId)) throw notFound('service user');
  if (serviceUser.id !== ownerOf(context.viewer).serviceUserId) {
    await requireNotAbove(context, { serviceUserId: serviceUser.id });
  }
  return { organizationId: serviceUser.organizationId, userId: null, serviceUserId: serviceUser.id, roleId: null };
}

async function chooseUser(context: Context, userId: string | null | undefined): Promise<string> {
  const own = ownerOf(context.viewer).userId;
  if (userId == null) {
    if (own === null) throw refuse(['userId'], '"userId" is needed: the caller is not a user.');
    return own;
  }
  const id = parseId('user', userId);
  if (id !== null && id === own) return id;
  requireEnterprisePermission(context.viewer, permissionFor.createKeyForUser);
  const [user] = id === null ? [] : await findUsers(context, [id]);
  if (!user) throw notFound('user');
  await requireNotAbove(context, { userId: user.id });
  return user.id;
}
