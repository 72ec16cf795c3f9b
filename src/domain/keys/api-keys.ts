import { z } from 'zod';
import { requireConfirmation } from '../../auth/confirmation.ts';
import { permissionFor } from '../../auth/permissions.ts';
import { displayToken, newToken } from '../../auth/tokens.ts';
import { type ApiKeyKind, apiKeyKinds, ownerOf, requireEnterprisePermission } from '../../auth/viewer.ts';
import type { Transaction } from '../../store/store.ts';
import { type AuditAction, audit } from '../audit.ts';
import type { Context } from '../context.ts';
import { notFound, refuse } from '../errors.ts';
import { newId, parseId } from '../ids.ts';
import { parseInput, text } from '../input.ts';
import { chooseOrganization, onlyOrganizationId, useOrganization } from '../organizations/use-organization.ts';
import { findServiceUsers, findUsers } from '../people/find-people.ts';
import { managesServiceUsersOf, requireManagingSome } from '../people/list-service-users.ts';
import { lockPrincipal } from '../people/lock-principal.ts';
import { requireNotAbove, requireOwnReach } from '../people/role-assignments.ts';
import { findRole, requireAssignableRole } from '../people/roles.ts';
import { checkExpiry } from './expiry.ts';
import type { ApiKeyRecord } from './key-record.ts';

const inputSchema = z.object({
  kind: z.enum(apiKeyKinds, { error: `"kind" must be one of ${apiKeyKinds.join(', ')}.` }),
  name: text('name', { min: 1, max: 256 }),
  organizationId: z.string().nullish(),
  userId: z.string().nullish(),
  serviceUserId: z.string().nullish(),
  roleId: z.string().nullish(),
  expiresAt: z.date().nullish(),
});

/** What a key is made from; ids in any form (contract.graphql says who may leave out what). */
export type CreateApiKeyInput = z.input<typeof inputSchema>;

type Owner = Pick<ApiKeyRecord, 'organizationId' | 'userId' | 'serviceUserId' | 'roleId'>;

const auditAction = {
  PERSONAL: 'create_user_api_key',
  SERVICE: 'create_org_api_key',
  PERSONAL_ACCESS_TOKEN: 'create_pat',
  SERVICE_USER: 'create_service_user_api_key',
} as const satisfies Record<ApiKeyKind, AuditAction>;

/** Makes a key. The token is in the answer and nowhere else: only its HMAC is stored. */
export async function createApiKey(
  context: Context,
  raw: CreateApiKeyInput,
): Promise<{ apiKey: ApiKeyRecord; token: string }> {
  const input = parseInput(inputSchema, raw);
  const expiresAt = input.expiresAt ?? null;
  checkExpiry(context, expiresAt);
  requireFitting(input);
  const owner = await owners[input.kind](context, input);
  requireConfirmation(context);
  const { kind, name } = input;
  return context.store.transact(async (tx) => {
    await keepOwner(context, tx, owner);
    return writeKey(context, tx, { kind, name, expiresAt, ...owner });
  });
}

/** What says, beside its kind, whose a key is, or where and as what it acts. */
const belongings = ['organizationId', 'userId', 'serviceUserId', 'roleId'] as const;

// An organization may be named with all: callers that work in one send it with everything.
const fitting = {
  PERSONAL: ['organizationId', 'userId'],
  PERSONAL_ACCESS_TOKEN: ['organizationId', 'userId'],
  SERVICE: ['organizationId', 'roleId'],
  SERVICE_USER: ['organizationId', 'serviceUserId'],
} as const satisfies Record<ApiKeyKind, readonly (typeof belongings)[number][]>;

// What would be passed over is refused: the key would be another's, or hold other rights, than who asked for it thinks.
function requireFitting(input: ParsedInput): void {
  const fits: readonly string[] = fitting[input.kind];
  const superfluous = belongings.find((name) => input[name] != null && !fits.includes(name));
  if (superfluous !== undefined) {
    throw refuse([superfluous], `"${superfluous}" does not go with a key of the kind ${input.kind}.`);
  }
}

// Since it was chosen its owner or its role may have been deleted: from here on neither can be until the key is there.
async function keepOwner(context: Context, tx: Transaction, owner: Owner): Promise<void> {
  const { userId, serviceUserId, roleId, organizationId } = owner;
  if (userId !== null) await lockPrincipal(context, tx, { userId });
  if (serviceUserId !== null) await lockPrincipal(context, tx, { serviceUserId });
  if (roleId === null) return;
  const scope = organizationId === null ? 'enterprise' : 'organization';
  await requireAssignableRole(context, roleId, scope, organizationId, { tx });
}

/** The first key of a service user that was just made, in the transaction that made it: what it needs was asked there. */
export function createKeyOf(
  context: Context,
  tx: Transaction,
  serviceUser: { readonly id: string; readonly organizationId: string | null },
  key: { readonly name: string; readonly expiresAt: Date | null },
): Promise<{ apiKey: ApiKeyRecord; token: string }> {
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

async function writeKey(
  context: Context,
  tx: Transaction,
  key: Owner & Pick<ApiKeyRecord, 'kind' | 'name' | 'expiresAt'>,
): Promise<{ apiKey: ApiKeyRecord; token: string }> {
  const token = newToken(key.kind);
  const { enterpriseId } = context.viewer;
  const apiKey = await insertApiKey(context, tx, { ...key, enterpriseId }, token);
  const { id: targetId, organizationId, kind, name } = apiKey;
  await audit(context, tx, auditAction[kind], { organizationId, targetId, data: { kind, name } });
  return { apiKey, token };
}

/** Writes a key's row for a token. Used by {@link createApiKey} and by the first start; it checks nothing. */
export async function insertApiKey(
  context: Pick<Context, 'keyring' | 'now'>,
  tx: Transaction,
  key: Owner & Pick<ApiKeyRecord, 'kind' | 'name' | 'expiresAt' | 'enterpriseId'>,
  token: string,
): Promise<ApiKeyRecord> {
  const record: ApiKeyRecord = {
    id: newId(),
    kind: key.kind,
    name: key.name,
    display: displayToken(token),
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
  await tx.prisma.apiKey.create({ data: { ...record, tokenHash: context.keyring.hashToken(token) } });
  return record;
}

type ParsedInput = z.output<typeof inputSchema>;

// Who a key of each kind belongs to, and who may make it.
const owners: Record<ApiKeyKind, (context: Context, input: ParsedInput) => Promise<Owner>> = {
  PERSONAL: async (context, input) => {
    const userId = await chooseUser(context, input);
    const organizationId = input.organizationId ?? (await onlyOrganizationId(context));
    if (organizationId === null)
      throw refuse(['organizationId'], '"organizationId" is needed: a PERSONAL key acts in one organization.');
    const organization = await useOrganization(context, organizationId, permissionFor.viewSession);
    return { organizationId: organization.id, userId, serviceUserId: null, roleId: null };
  },
  PERSONAL_ACCESS_TOKEN: async (context, input) => {
    const userId = await chooseUser(context, input);
    // No key makes one that reaches further than itself: not from one organization to all of its user's.
    if (context.viewer.keyKind === 'PERSONAL') {
      requireEnterprisePermission(context.viewer, permissionFor.manageUserKeys);
      await requireOwnReach(context, userId);
    }
    return { organizationId: null, userId, serviceUserId: null, roleId: null };
  },
  SERVICE: async (context, input) => {
    if (input.organizationId == null && input.roleId != null && (await isEnterpriseRole(context, input.roleId))) {
      requireEnterprisePermission(context.viewer, permissionFor.manageEnterpriseServiceKeys);
      const role = await requireAssignableRole(context, input.roleId, 'enterprise', null);
      return { organizationId: null, userId: null, serviceUserId: null, roleId: role.id };
    }
    const organization = await chooseOrganization(context, input.organizationId, permissionFor.createServiceKey);
    const role = await requireAssignableRole(context, input.roleId ?? 'org_admin', 'organization', organization.id);
    return { organizationId: organization.id, userId: null, serviceUserId: null, roleId: role.id };
  },
  SERVICE_USER: async (context, input) => {
    if (input.serviceUserId == null)
      throw refuse(['serviceUserId'], '"serviceUserId" is needed for a SERVICE_USER key.');
    const id = parseId('serviceUser', input.serviceUserId);
    // Also for itself: a key that leaked must not outlive its rotation through others that it made.
    requireManagingSome(context);
    const [serviceUser] = id === null ? [] : await findServiceUsers(context, [id]);
    if (!serviceUser || !managesServiceUsersOf(context, serviceUser.organizationId)) throw notFound('service user');
    if (serviceUser.id !== ownerOf(context.viewer).serviceUserId) {
      await requireNotAbove(context, { serviceUserId: serviceUser.id });
    }
    return { organizationId: serviceUser.organizationId, userId: null, serviceUserId: serviceUser.id, roleId: null };
  },
};

async function chooseUser(context: Context, input: ParsedInput): Promise<string> {
  const own = ownerOf(context.viewer).userId;
  if (input.userId == null) {
    if (own === null) throw refuse(['userId'], '"userId" is needed: the caller is not a user.');
    return own;
  }
  const id = parseId('user', input.userId);
  if (id !== null && id === own) return id;
  requireEnterprisePermission(context.viewer, permissionFor.createKeyForUser);
  const [user] = id === null ? [] : await findUsers(context, [id]);
  if (!user) throw notFound('user');
  await requireNotAbove(context, { userId: user.id });
  return user.id;
}

async function isEnterpriseRole(context: Context, roleId: string): Promise<boolean> {
  return (await findRole(context, roleId))?.scope === 'enterprise';
}
