import { z } from 'zod';
import { permissionFor } from '../../auth/permissions.ts';
import { ownerOf, requirePermission } from '../../auth/viewer.ts';
import type { Transaction } from '../../store/store.ts';
import { audit } from '../audit.ts';
import type { Context } from '../context.ts';
import { notFound, refuse } from '../errors.ts';
import { newId, parseId } from '../ids.ts';
import { parseInput, text } from '../input.ts';
import { chooseOrganization, useOrganization } from '../organizations/use-organization.ts';
import { environmentNameOf } from '../secret-names.ts';
import { findSecrets, type SecretRecord, secretPlace, secretTypes } from './secrets.ts';
import { totpComplaint } from './totp.ts';

/** The most secrets of an organization: v1 lists them in one answer. */
export const maxSecrets = 1_000;
/** What an organization's key-value secrets may come to, sealed, in characters: an agent gets them all in its environment. */
const maxEnvironmentLength = 524_288;

const inputSchema = z
  .object({
    key: text('key', { min: 1, max: 256 }).refine((key) => !/[\p{Cc}=]/u.test(key) && key.trim() === key, {
      error: '"key" must have no control characters, no "=" and no spaces at its ends.',
    }),
    type: z.enum(secretTypes, { error: `"type" must be one of ${secretTypes.join(', ')}.` }),
    value: text('value', { min: 1, max: 65_536 }),
    note: text('note', { max: 2_000 }).nullish(),
    isSensitive: z.boolean().nullish(),
  })
  .superRefine(({ key, type, value }, check) => {
    const complain = (name: string, message: string) => check.addIssue({ code: 'custom', path: [name], message });
    if (type === 'key-value' && environmentNameOf(key) === null) {
      complain(
        'key',
        '"key" would be an environment variable that changes the agent itself (PATH, HOME, LD_…, NODE_OPTIONS …), or none at all.',
      );
    }
    const complaint = type === 'totp' ? totpComplaint(value) : null;
    if (complaint !== null) complain('value', complaint);
  });

/** A new secret; sensitive unless said otherwise. */
export type CreateSecretInput = z.input<typeof inputSchema>;

/**
 * Makes a secret of an organization (in any form; left out: the viewer's only one). Sessions that are started from now on
 * have it. FORBIDDEN, INVALID_INPUT, ORGANIZATION_NOT_USABLE; NOT_UNIQUE for a key that the organization has already;
 * LIMIT_EXCEEDED beyond {@link maxSecrets}, or beyond what an environment holds.
 */
export async function createSecret(
  context: Context,
  raw: CreateSecretInput,
  organizationId?: string | null,
): Promise<SecretRecord> {
  const organization = await chooseOrganization(context, organizationId, permissionFor.changeSecrets);
  const input = parseInput(inputSchema, raw);
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
    createdAt: now,
    updatedAt: now,
  };
  const sealed = context.keyring.seal(input.value, secretPlace(organization.id, id));
  await context.store.transact(async (tx) => {
    await insertSecret(tx, secret, sealed);
    const target = { organizationId: organization.id, targetId: id, data: { name: secret.key } };
    await audit(context, tx, 'create_secret', target);
  });
  return secret;
}

async function insertSecret(tx: Transaction, secret: SecretRecord, sealed: string): Promise<void> {
  // One at a time for each organization, or two at once would both pass the count; foreign keys are not held up by it.
  const [organization] = await tx.query(
    'select id from organization where id = $1 and deleted_at is null for no key update',
    [secret.organizationId],
  );
  if (!organization) throw notFound('organization');
  const inserted = await tx.query(
    `insert into secret (id, organization_id, key, type, sealed, note, is_sensitive, user_id, service_user_id, created_at,
       updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::timestamptz, $10::timestamptz)
     on conflict (organization_id, key) do nothing returning id`,
    [
      secret.id,
      secret.organizationId,
      secret.key,
      secret.type,
      sealed,
      secret.note,
      secret.isSensitive,
      secret.userId,
      secret.serviceUserId,
      secret.createdAt,
    ],
  );
  if (inserted.length === 0) throw refuse(['key'], 'Secret name is not unique', 'NOT_UNIQUE');
  const [all] = await tx.query<{ count: number; length: number }>(
    `select count(*)::int as count, coalesce(sum(length(sealed)) filter (where type = 'key-value'), 0)::int as length
       from secret where organization_id = $1`,
    [secret.organizationId],
  );
  if ((all?.count ?? 0) > maxSecrets) {
    throw refuse(['key'], `An organization has at most ${maxSecrets} secrets.`, 'LIMIT_EXCEEDED');
  }
  if (secret.type === 'key-value' && (all?.length ?? 0) > maxEnvironmentLength) {
    const message = `"value" is too much: what an organization's key-value secrets come to, sealed, is at most ${maxEnvironmentLength} characters, or no agent could be started with them.`;
    throw refuse(['value'], message, 'LIMIT_EXCEEDED');
  }
}

/** Which secret, by its id in any form, and the organization that the path named, if any. */
export interface SecretPlace {
  readonly secretId: string;
  readonly organizationId?: string | undefined;
}

/**
 * Deletes a secret and gives what it was. Agents that are at work keep it in their environment until they end. NOT_FOUND,
 * FORBIDDEN, ORGANIZATION_NOT_USABLE.
 */
export async function deleteSecret(context: Context, place: SecretPlace): Promise<SecretRecord> {
  const named =
    place.organizationId === undefined
      ? null
      : await useOrganization(context, place.organizationId, permissionFor.changeSecrets);
  const bare = parseId('secret', place.secretId);
  const [secret] = bare === null ? [] : await findSecrets(context, [bare]);
  if (!secret || (named && secret.organizationId !== named.id)) throw notFound('secret');
  requirePermission(context.viewer, permissionFor.changeSecrets, secret.organizationId);
  await context.store.transact(async (tx) => {
    const deleted = await tx.query('delete from secret where id = $1 returning id', [secret.id]);
    if (deleted.length === 0) throw notFound('secret');
    const target = { organizationId: secret.organizationId, targetId: secret.id, data: { name: secret.key } };
    await audit(context, tx, 'delete_secret', target);
  });
  return secret;
}
