import { z } from 'zod';
import { requireConfirmation } from '../../../auth/confirmation.ts';
import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import { notFound, refuse } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import { audit, auditAll } from '../../audit/record-audit.ts';
import type { Context } from '../../context.ts';
import { type CreateOptions, findReplay } from '../../idempotency.ts';
import { newId } from '../../ids.ts';
import { parseInput, text } from '../../input.ts';
import { useOrganization } from '../organizations/use-organization.ts';
import { type UserRecord, userColumns } from './find-people.ts';
import { requireAssignableRole } from './roles.ts';

/** An email address of a user. */
export const emailSchema = z
  .email({ error: '"email" must be an email address.' })
  .max(320, '"email" must be at most 320 characters.');
/** A user's name; null or empty: none. */
export const nameSchema = text('name', { max: 200 }).nullish();

/** The values of a new user in inputs. */
export const userSchema = z.object({
  email: emailSchema,
  name: nameSchema,
  organizationId: z.string().nullable(),
  roleId: z.string(),
});

/** The input of a new user. `organizationId`: the organization of its first role, in any form; null: the enterprise. */
export type CreateUserInput = z.input<typeof userSchema>;

/**
 * Creates a user of the viewer's enterprise with its first role. Throws FORBIDDEN, INVALID_INPUT, NOT_UNIQUE at
 * `email`; IDEMPOTENCY_CONFLICT, and NOT_FOUND if the user that the idempotency key created is gone. The idempotency
 * key belongs to the organization, or to the enterprise for a role there.
 */
export async function createUser(
  context: Context,
  raw: CreateUserInput,
  options: CreateOptions = {},
): Promise<UserRecord> {
  requireEnterprisePermission(context.viewer, permissionFor.createUser);
  const input = parseInput(userSchema, raw);
  const { roleId } = input;
  const organization =
    input.organizationId === null
      ? null
      : await useOrganization(context, input.organizationId, permissionFor.viewMembers);
  const scope = organization ? 'organization' : 'enterprise';
  const organizationId = organization?.id ?? null;
  requireConfirmation(context);
  const id = newId();
  return context.store.transact(async (tx) => {
    const claim = {
      scope: organizationId ?? context.viewer.enterpriseId,
      operation: 'createUser',
      // Without the organization, which is the scope, in whatever form it was named.
      input: { email: input.email, name: input.name || null, roleId },
      resultId: id,
    };
    const replay = await findReplay(context, tx, options, claim);
    if (replay !== null) return readCreated(tx, replay);
    const role = await requireAssignableRole(context, roleId, scope, organizationId, { tx });
    const [user] = await insertUsers(context, tx, [{ id, email: input.email, name: input.name || null }]);
    if (!user) throw refuse(['email'], '"email" already belongs to a user of this enterprise.', 'NOT_UNIQUE');
    await insertRoles(context, tx, [user], { organizationId, roleId: role.id });
    await audit(context, tx, 'add_member', { organizationId, targetId: user.id, data: { role: role.id } });
    return user;
  });
}

async function readCreated(tx: Transaction, id: string): Promise<UserRecord> {
  const user = await tx.prisma.user.findFirst({ where: { id, deletedAt: null } });
  if (!user) throw notFound('user');
  return user;
}

/** Maximum number of emails in one invitation. */
const maxInvited = 100;

/** An invitation of users in inputs. */
export const inviteSchema = z.object({
  emails: z.array(emailSchema).max(maxInvited, `"emails" must have at most ${maxInvited} items.`),
  enterpriseRoleId: z.string(),
});

/** The emails to invite, and their role of enterprise scope. */
export type InviteUsersInput = z.input<typeof inviteSchema>;

/**
 * Creates a user for each email that has none yet, with a role on the enterprise: all, or none if any part is refused.
 * An email with an existing user returns that user unchanged. Returns the users without duplicates, in the order of the
 * emails. Throws FORBIDDEN, INVALID_INPUT at `emails` and its index, UNKNOWN_REFERENCE or INVALID_INPUT at
 * `enterpriseRoleId`.
 */
export async function inviteUsers(
  context: Context,
  raw: InviteUsersInput,
  options: CreateOptions = {},
): Promise<readonly UserRecord[]> {
  requireEnterprisePermission(context.viewer, permissionFor.createUser);
  const input = parseInput(inviteSchema, raw);
  requireConfirmation(context);
  const isFirst = (email: string, index: number, all: readonly string[]) =>
    all.findIndex((other) => other.toLowerCase() === email.toLowerCase()) === index;
  const emails = input.emails.filter(isFirst);
  const claim = { scope: context.viewer.enterpriseId, operation: 'inviteUsers', input, resultId: newId() };
  return context.store.transact(async (tx) => {
    if ((await findReplay(context, tx, options, claim)) === null) await invite(context, tx, emails, input);
    return tx.query<UserRecord>(
      `select ${userColumns} from unnest($2::text[]) with ordinality wanted(email, position)
         join user_account u on u.enterprise_id = $1 and lower(u.email) = lower(wanted.email) and u.deleted_at is null
        order by wanted.position`,
      [context.viewer.enterpriseId, emails],
    );
  });
}

async function invite(
  context: Context,
  tx: Transaction,
  emails: readonly string[],
  { enterpriseRoleId }: InviteUsersInput,
): Promise<void> {
  const role = await requireAssignableRole(context, enterpriseRoleId, 'enterprise', null, {
    tx,
    path: 'enterpriseRoleId',
  });
  const created = await insertUsers(
    context,
    tx,
    emails.map((email) => ({ id: newId(), email, name: null })),
  );
  await insertRoles(context, tx, created, { organizationId: null, roleId: role.id });
  const targets = created.map(({ id }) => ({ targetId: id, data: { role: role.id } }));
  await auditAll(context, tx, 'add_members_to_enterprise', null, targets);
}

/** Returns the created users. An email of a live user is skipped, whatever its case. */
export function insertUsers(
  context: Context,
  tx: Transaction,
  users: readonly { id: string; email: string; name: string | null }[],
): Promise<UserRecord[]> {
  return tx.query<UserRecord>(
    `insert into user_account as u (id, enterprise_id, email, name, created_at)
     select id, $1, email, name, $5::timestamptz from unnest($2::text[], $3::text[], $4::text[]) input(id, email, name)
     on conflict do nothing returning ${userColumns}`,
    [
      context.viewer.enterpriseId,
      users.map(({ id }) => id),
      users.map(({ email }) => email),
      users.map(({ name }) => name),
      context.now(),
    ],
  );
}

async function insertRoles(
  context: Context,
  tx: Transaction,
  users: readonly UserRecord[],
  assignment: { organizationId: string | null; roleId: string },
): Promise<void> {
  const { enterpriseId } = context.viewer;
  const createdAt = context.now();
  await tx.prisma.roleAssignment.createMany({
    data: users.map(({ id: userId }) => ({ id: newId(), enterpriseId, ...assignment, userId, createdAt })),
  });
}
