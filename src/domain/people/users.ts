import { z } from 'zod';
import { permissionFor } from '../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../auth/viewer.ts';
import { audit } from '../audit.ts';
import type { Context } from '../context.ts';
import { refuse } from '../errors.ts';
import { newId } from '../ids.ts';
import { parseInput, text } from '../input.ts';
import { chooseOrganization } from '../organizations/use-organization.ts';
import type { UserRecord } from './find-people.ts';
import { requireAssignableRole } from './roles.ts';

const userSchema = z.object({
  email: z.email({ error: '"email" must be an email address.' }).max(320, '"email" must be at most 320 characters.'),
  name: text('name', { max: 200 }).nullish(),
  organizationId: z.string().nullish(),
  roleId: z.string().nullish(),
});

/** What a user is made from. With a role of enterprise scope no organization is needed; the default role is org_member. */
export type CreateUserInput = z.input<typeof userSchema>;

/** Makes a user of the viewer's enterprise and gives it its first role. FORBIDDEN, INVALID_INPUT, NOT_UNIQUE at `email`. */
export async function createUser(context: Context, raw: CreateUserInput): Promise<UserRecord> {
  requireEnterprisePermission(context.viewer, permissionFor.createUser);
  const input = parseInput(userSchema, raw);
  const isEnterpriseRole = input.roleId === 'account_admin' || input.roleId === 'account_member';
  const organization = isEnterpriseRole
    ? null
    : await chooseOrganization(context, input.organizationId, permissionFor.viewMembers);
  const scope = organization ? 'organization' : 'enterprise';
  const role = await requireAssignableRole(context, input.roleId ?? 'org_member', scope, organization?.id ?? null);
  const now = context.now();
  const user: UserRecord = {
    id: newId(),
    enterpriseId: context.viewer.enterpriseId,
    email: input.email,
    name: input.name || null,
    createdAt: now,
  };
  await context.store.transact(async (tx) => {
    const [inserted] = await tx.query<{ id: string }>(
      `insert into user_account (id, enterprise_id, email, name, created_at) values ($1, $2, $3, $4, $5::timestamptz)
       on conflict do nothing returning id`,
      [user.id, user.enterpriseId, user.email, user.name, now],
    );
    if (!inserted) throw refuse(['email'], '"email" already belongs to a user of this enterprise.', 'NOT_UNIQUE');
    const assignment = { organizationId: organization?.id ?? null, userId: user.id, roleId: role.id, createdAt: now };
    await tx.prisma.roleAssignment.create({ data: { id: newId(), enterpriseId: user.enterpriseId, ...assignment } });
    await audit(context, tx, 'add_member', {
      organizationId: organization?.id ?? null,
      targetId: user.id,
      data: { role: role.id },
    });
  });
  return user;
}
