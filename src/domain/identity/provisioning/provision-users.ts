import { z } from 'zod';
import { requireConfirmation } from '../../../auth/confirmation.ts';
import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import { refuse } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import { audit } from '../../audit/record-audit.ts';
import type { Context } from '../../context.ts';
import { newId } from '../../ids.ts';
import { parseInput, text } from '../../input.ts';
import { announceKeyChange } from '../keys/key-changes.ts';
import { changeActivity } from '../people/deactivate-users.ts';
import { type UserRecord, userColumns } from '../people/find-people.ts';
import { lockPrincipal } from '../people/lock-principal.ts';
import { requireNotAbove } from '../people/role-assignments.ts';
import { emailSchema, insertUsers, nameSchema } from '../people/users.ts';

const partSchema = (name: string) => text(name, { max: 200 }).nullable();

const valuesSchema = z.object({
  email: emailSchema,
  name: nameSchema,
  externalId: text('externalId', { max: 500 }).nullable(),
  givenName: partSchema('givenName'),
  familyName: partSchema('familyName'),
  isActive: z.boolean(),
});

const changeSchema = valuesSchema.partial();

/** The values of a user in a directory. `name`: the name for display; null: made of the parts. */
export type ProvisionedValues = z.input<typeof valuesSchema>;

/** Changes of the values of a user: an omitted member does not change. */
export type ProvisionedChange = z.input<typeof changeSchema>;

const joined = ({ givenName, familyName }: Pick<UserRecord, 'givenName' | 'familyName'>): string | null =>
  [givenName, familyName].filter(Boolean).join(' ').slice(0, 200) || null;

const isTaken = () => refuse(['email'], '"email" already belongs to a user of this enterprise.', 'NOT_UNIQUE');

/**
 * Creates a user for a directory, without a role: its groups or an administrator give it one. Throws FORBIDDEN, INVALID_INPUT,
 * CONFIRMATION_REQUIRED, NOT_UNIQUE at `email`.
 */
export async function provisionUser(context: Context, raw: ProvisionedValues): Promise<UserRecord> {
  requireEnterprisePermission(context.viewer, permissionFor.createUser);
  const { email, name, externalId, givenName, familyName, isActive } = parseInput(valuesSchema, raw);
  requireConfirmation(context);
  return context.store.transact(async (tx) => {
    const shown = name || joined({ givenName, familyName });
    const [created] = await insertUsers(context, tx, [{ id: newId(), email, name: shown }]);
    if (created === undefined) throw isTaken();
    await audit(context, tx, 'add_member', { organizationId: null, targetId: created.id });
    const user = await write(tx, { ...created, externalId, givenName, familyName });
    return isActive ? user : changeActivity(context, tx, user.id, false);
  });
}

/**
 * Changes a user by its directory: the address, the names, the external id, or whether it is active. The viewer must have every
 * permission of the user. `check`: throws unless the user, who is locked, may change. Throws FORBIDDEN, INVALID_INPUT,
 * CONFIRMATION_REQUIRED, NOT_FOUND, NOT_UNIQUE at `email`.
 */
export async function updateProvisionedUser(
  context: Context,
  id: string,
  raw: ProvisionedChange,
  check?: (user: UserRecord) => void,
): Promise<UserRecord> {
  requireEnterprisePermission(context.viewer, permissionFor.updateUser);
  const { isActive, ...values } = parseInput(changeSchema, raw);
  requireConfirmation(context);
  return context.store
    .transact(async (tx) => {
      const { id: userId } = await lockPrincipal(context, tx, { userId: id });
      await requireNotAbove(context, { userId }, tx);
      const before = await tx.prisma.user.findUniqueOrThrow({ where: { id: userId } });
      check?.(before);
      const wantedValues = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
      const after: UserRecord = { ...before, ...wantedValues };
      // A name that was made of the parts follows them, unless the directory sends one.
      const isMade = before.name === null || before.name === joined(before);
      const wanted = values.name === undefined && !isMade ? before.name : values.name;
      const user = await change(context, tx, before, { ...after, name: wanted || joined(after) });
      return isActive === undefined ? user : changeActivity(context, tx, userId, isActive);
    })
    .catch((error: unknown) => {
      // Another user got the address meanwhile.
      throw (error as { code?: unknown } | null)?.code === uniqueViolation ? isTaken() : error;
    });
}

/** PostgreSQL's code for a row that a unique index refuses. */
const uniqueViolation = '23505';

const written = ['email', 'name', 'externalId', 'givenName', 'familyName'] as const;

async function change(context: Context, tx: Transaction, before: UserRecord, after: UserRecord): Promise<UserRecord> {
  const changed = written.filter((field) => before[field] !== after[field]);
  if (changed.length === 0) return before;
  if (changed.includes('email') && (await isUsed(tx, after))) throw isTaken();
  const user = await write(tx, after);
  const data = { changed: changed.join(' '), ...(changed.includes('email') && { emailBefore: before.email }) };
  await audit(context, tx, 'update_member', { organizationId: null, targetId: user.id, data });
  await announceKeyChange(context, tx);
  return user;
}

async function isUsed(tx: Transaction, { id, enterpriseId, email }: UserRecord): Promise<boolean> {
  const rows = await tx.query(
    `select 1 from user_account u
      where u.enterprise_id = $1 and lower(u.email) = lower($2::text) and u.deleted_at is null and u.id <> $3`,
    [enterpriseId, email, id],
  );
  return rows.length > 0;
}

async function write(tx: Transaction, user: UserRecord): Promise<UserRecord> {
  const [saved] = await tx.query<UserRecord>(
    `update user_account u set email = $2, name = $3, external_id = $4, given_name = $5, family_name = $6
      where u.id = $1 returning ${userColumns}`,
    [user.id, user.email, user.name, user.externalId, user.givenName, user.familyName],
  );
  if (saved === undefined) throw new Error(`The user ${user.id} is gone, although its row is locked.`);
  return saved;
}
