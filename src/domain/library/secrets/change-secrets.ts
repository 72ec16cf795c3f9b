import { z } from 'zod';
import { requireConfirmation } from '../../../auth/confirmation.ts';
import { permissionFor } from '../../../auth/permissions.ts';
import { ownerOf, requireAnyPermission, requirePermission } from '../../../auth/viewer.ts';
import { notFound, refuse } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import { audit } from '../../audit/record-audit.ts';
import { changedBy } from '../../authors.ts';
import type { Context } from '../../context.ts';
import { type CreateOptions, findReplay } from '../../idempotency.ts';
import { chooseOrganization, useOrganization } from '../../identity/organizations/use-organization.ts';
import { newId } from '../../ids.ts';
import { parseInput, text } from '../../input.ts';
import { environmentNameOf } from '../../secret-names.ts';
import { requireVersion, type VersionCondition } from '../../versions.ts';
import {
  findSecret,
  type SecretRecord,
  type SecretType,
  secretAssociatedData,
  secretColumns,
  secretTypes,
} from './secrets.ts';
import { totpProblem } from './totp.ts';

/** Maximum number of secrets of an organization: v1 lists them in one response. */
export const maxSecrets = 1_000;
/**
 * Maximum total length of an organization's key-value secrets, sealed, in characters: an agent gets all of them in its
 * environment.
 */
const maxEnvironmentLength = 524_288;

const fields = {
  key: text('key', { min: 1, max: 256 }).refine((key) => !/[\p{Cc}=]/u.test(key) && key.trim() === key, {
    error: '"key" must not have control characters, "=", or spaces at its ends.',
  }),
  value: text('value', { min: 1, max: 65_536 }),
  note: text('note', { max: 2_000 }).nullish(),
  isSensitive: z.boolean().nullish(),
};

const inputSchema = z
  .object({ ...fields, type: z.enum(secretTypes, { error: `"type" must be one of ${secretTypes.join(', ')}.` }) })
  .superRefine(checkByType);

function checkByType(
  { type, key, value }: { type: SecretType; key?: string | undefined; value?: string | undefined },
  check: z.RefinementCtx,
): void {
  const addProblem = (name: string, message: string) => check.addIssue({ code: 'custom', path: [name], message });
  if (type === 'key-value' && key !== undefined && environmentNameOf(key) === null) {
    addProblem(
      'key',
      '"key" must be a valid name of an environment variable, and must not change the agent itself (PATH, HOME, LD_…, NODE_OPTIONS …).',
    );
  }
  const problem = type === 'totp' && value !== undefined ? totpProblem(value) : null;
  if (problem !== null) addProblem('value', problem);
}

/** A new secret; sensitive by default. */
export type CreateSecretInput = z.input<typeof inputSchema>;

/**
 * Creates a secret of an organization (in any form; if omitted: the one that the viewer's key is bound to). Sessions that
 * start from now on have it. Throws FORBIDDEN, INVALID_INPUT, ORGANIZATION_NOT_USABLE; NOT_UNIQUE for a key that the
 * organization already has; LIMIT_EXCEEDED beyond {@link maxSecrets}, or beyond the size of an environment;
 * IDEMPOTENCY_CONFLICT, and NOT_FOUND if the secret that the idempotency key created is gone.
 */
export async function createSecret(
  context: Context,
  raw: CreateSecretInput,
  organizationId?: string | null,
  options: CreateOptions = {},
): Promise<SecretRecord> {
  const organization = await chooseOrganization(context, organizationId, permissionFor.changeSecrets);
  const input = parseInput(inputSchema, raw);
  requireConfirmation(context);
  const now = context.now();
  const id = newId();
  const secret: SecretRecord = {
    id,
    organizationId: organization.id,
    key: input.key,
    type: input.type,
    note: input.note ?? null,
    isSensitive: input.isSensitive ?? true,
    ...ownerOf(context.viewer),
    ...changedBy(context),
    createdAt: now,
    updatedAt: now,
  };
  const sealed = context.keyring.seal(input.value, secretAssociatedData(organization.id, id));
  return context.store.transact(async (tx) => {
    const claim = { scope: organization.id, operation: 'createSecret', input: raw, resultId: id };
    const replay = await findReplay(context, tx, options, claim);
    if (replay !== null) return lockSecret(tx, replay);
    await insertSecret(tx, secret, sealed);
    const target = { organizationId: organization.id, targetId: id, data: { name: secret.key } };
    await audit(context, tx, 'create_secret', target);
    return secret;
  });
}

async function lockSecret(tx: Transaction, id: string): Promise<SecretRecord> {
  const [secret] = await tx.query<SecretRecord>(`select ${secretColumns} from secret x where x.id = $1 for update`, [
    id,
  ]);
  if (!secret) throw notFound('secret');
  return secret;
}

async function insertSecret(tx: Transaction, secret: SecretRecord, sealed: string): Promise<void> {
  await lockSecretsOf(tx, secret.organizationId);
  await requireFreeKey(tx, secret);
  await tx.prisma.secret.create({ data: { ...secret, sealed }, select: { id: true } });
  await requireRoom(tx, secret);
}

// Serializes the creations of an organization, since two at once would both pass the count. The lock does not block
// foreign keys.
async function lockSecretsOf(tx: Transaction, organizationId: string): Promise<void> {
  const [organization] = await tx.query(
    'select id from organization where id = $1 and deleted_at is null for no key update',
    [organizationId],
  );
  if (!organization) throw notFound('organization');
}

async function requireRoom(tx: Transaction, secret: Pick<SecretRecord, 'organizationId' | 'type'>): Promise<void> {
  const [all] = await tx.query<{ count: number; length: number }>(
    `select count(*)::int as count, coalesce(sum(length(sealed)) filter (where type = 'key-value'), 0)::int as length
       from secret where organization_id = $1`,
    [secret.organizationId],
  );
  if ((all?.count ?? 0) > maxSecrets) {
    throw refuse(['key'], `An organization has at most ${maxSecrets} secrets.`, 'LIMIT_EXCEEDED');
  }
  if (secret.type === 'key-value' && (all?.length ?? 0) > maxEnvironmentLength) {
    const message = `"value" is too long: the encrypted key-value secrets of an organization may have at most ${maxEnvironmentLength} characters together, because agents get them as environment variables.`;
    throw refuse(['value'], message, 'LIMIT_EXCEEDED');
  }
}

/** Changes of a secret in inputs; each member is optional. */
export const secretChangeSchema = z.object(fields).partial();

/**
 * The changes of a secret: an omitted (or undefined) member does not change, including the value, which cannot be read;
 * its type never changes. null clears the note, and nothing else.
 */
export type SecretChange = z.input<typeof secretChangeSchema>;

/**
 * Changes the secret of an id in any form; writes nothing if nothing changes. Running agents keep the previous value
 * until they end. Throws NOT_FOUND, FORBIDDEN, CONFLICT, and the errors of {@link createSecret}.
 */
export async function updateSecret(
  context: Context,
  id: string,
  raw: SecretChange & VersionCondition,
): Promise<SecretRecord> {
  const seen = await getSecretToChange(context, { secretId: id });
  const schema = secretChangeSchema.superRefine((input, check) => checkByType({ type: seen.type, ...input }, check));
  const change = parseInput(schema, raw);
  return context.store.transact(async (tx) => {
    await lockSecretsOf(tx, seen.organizationId);
    const before = await lockSecret(tx, seen.id);
    requireVersion(before, raw);
    const after: SecretRecord = {
      ...before,
      key: change.key ?? before.key,
      note: change.note === undefined ? before.note : change.note,
      isSensitive: change.isSensitive ?? before.isSensitive,
    };
    const changed: string[] = (Object.keys(after) as (keyof SecretRecord)[]).filter(
      (name) => after[name] !== before[name],
    );
    if (change.value !== undefined) changed.push('value');
    if (changed.length === 0) return before;
    requireConfirmation(context);
    if (changed.includes('key')) await requireFreeKey(tx, after);
    const by = changedBy(context, before);
    const sealed =
      change.value === undefined
        ? null
        : context.keyring.seal(change.value, secretAssociatedData(after.organizationId, after.id));
    const { key, note, isSensitive } = after;
    const data = { key, note, isSensitive, ...by, ...(sealed !== null && { sealed }) };
    await tx.prisma.secret.update({ where: { id: after.id }, data, select: { id: true } });
    if (sealed !== null) await requireRoom(tx, after);
    const target = { organizationId: after.organizationId, targetId: after.id };
    await audit(context, tx, 'update_secret', { ...target, data: { name: key, changed: changed.join(' ') } });
    return { ...after, ...by };
  });
}

async function requireFreeKey(tx: Transaction, { id, organizationId, key }: SecretRecord): Promise<void> {
  const where = { organizationId, key, NOT: { id } };
  const taken = await tx.prisma.secret.findFirst({ where, select: { id: true } });
  if (taken) throw refuse(['key'], 'Secret name is not unique', 'NOT_UNIQUE');
}

/** Identifies a secret by its id in any form, and the organization that the path named, if any. */
export interface SecretRef {
  readonly secretId: string;
  readonly organizationId?: string | undefined;
}

/**
 * Deletes a secret and returns it. Running agents keep it in their environment until they end. Throws NOT_FOUND,
 * FORBIDDEN, ORGANIZATION_NOT_USABLE.
 */
export async function deleteSecret(
  context: Context,
  ref: SecretRef,
  condition?: VersionCondition,
): Promise<SecretRecord> {
  const secret = await getSecretToChange(context, ref);
  await context.store.transact(async (tx) => {
    requireVersion(await lockSecret(tx, secret.id), condition);
    await tx.prisma.secret.delete({ where: { id: secret.id }, select: { id: true } });
    const target = { organizationId: secret.organizationId, targetId: secret.id, data: { name: secret.key } };
    await audit(context, tx, 'delete_secret', target);
  });
  return secret;
}

async function getSecretToChange(context: Context, ref: SecretRef): Promise<SecretRecord> {
  const named =
    ref.organizationId === undefined
      ? null
      : await useOrganization(context, ref.organizationId, permissionFor.changeSecrets);
  if (named === null) requireAnyPermission(context.viewer, [permissionFor.changeSecrets]);
  const secret = await findSecret(context, ref.secretId);
  if (!secret || (named && secret.organizationId !== named.id)) throw notFound('secret');
  requirePermission(context.viewer, permissionFor.changeSecrets, secret.organizationId);
  return secret;
}
