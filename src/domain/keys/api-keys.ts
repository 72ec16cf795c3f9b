import { z } from 'zod';
import { permissionFor } from '../../auth/permissions.ts';
import { displayToken, newToken } from '../../auth/tokens.ts';
import {
  type ApiKeyKind,
  apiKeyKinds,
  ownerOf,
  requireEnterprisePermission,
  requirePermission,
} from '../../auth/viewer.ts';
import type { Transaction } from '../../store/store.ts';
import { type AuditAction, audit } from '../audit.ts';
import type { Context } from '../context.ts';
import { notFound, refuse } from '../errors.ts';
import { newId, parseId } from '../ids.ts';
import { parseInput, text } from '../input.ts';
import { chooseOrganization, onlyOrganizationId, useOrganization } from '../organizations/use-organization.ts';
import { findServiceUsers, findUsers } from '../people/find-people.ts';
import { requireAssignableRole } from '../people/roles.ts';

/** A key as it may be shown: never its token. */
export interface ApiKeyRecord {
  readonly id: string;
  readonly kind: ApiKeyKind;
  readonly name: string;
  /** The token's first characters. */
  readonly display: string;
  readonly enterpriseId: string;
  readonly organizationId: string | null;
  readonly userId: string | null;
  readonly serviceUserId: string | null;
  readonly roleId: string | null;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
}

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
  checkExpiry(context, input.expiresAt ?? null);
  const owner = await owners[input.kind](context, input);
  const token = newToken(input.kind);
  const apiKey = await context.store.transact(async (tx) => {
    const key = {
      kind: input.kind,
      name: input.name,
      expiresAt: input.expiresAt ?? null,
      enterpriseId: context.viewer.enterpriseId,
    };
    const record = await insertApiKey(context, tx, { ...key, ...owner }, token);
    const data = { kind: record.kind, name: record.name };
    await audit(context, tx, auditAction[input.kind], {
      organizationId: record.organizationId,
      targetId: record.id,
      data,
    });
    return record;
  });
  return { apiKey, token };
}

function checkExpiry(context: Context, expiresAt: Date | null): void {
  const path = ['expiresAt'];
  if (expiresAt !== null && expiresAt <= context.now()) throw refuse(path, '"expiresAt" must be in the future.');
  if (expiresAt !== null && expiresAt.getUTCFullYear() > 9999)
    throw refuse(path, '"expiresAt" must not be after the year 9999.');
  // A key that ends must not outlive itself through one that it made.
  const { expiresAt: own } = context.viewer;
  if (own !== null && (expiresAt === null || expiresAt > own)) {
    throw refuse(path, `"expiresAt" must not be after the end of the key that asks, ${own.toISOString()}.`);
  }
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
    return { organizationId: null, userId, serviceUserId: null, roleId: null };
  },
  SERVICE: async (context, input) => {
    const organization = await chooseOrganization(context, input.organizationId, permissionFor.createServiceKey);
    const role = await requireAssignableRole(context, input.roleId ?? 'org_admin', 'organization', organization.id);
    return { organizationId: organization.id, userId: null, serviceUserId: null, roleId: role.id };
  },
  SERVICE_USER: async (context, input) => {
    if (input.serviceUserId == null)
      throw refuse(['serviceUserId'], '"serviceUserId" is needed for a SERVICE_USER key.');
    const id = parseId('serviceUser', input.serviceUserId);
    const [serviceUser] = id === null ? [] : await findServiceUsers(context, [id]);
    if (!serviceUser) throw notFound('service user');
    if (serviceUser.organizationId === null) {
      requireEnterprisePermission(context.viewer, permissionFor.createEnterpriseServiceUser);
    } else {
      requirePermission(context.viewer, permissionFor.createServiceUser, serviceUser.organizationId);
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
  return user.id;
}
