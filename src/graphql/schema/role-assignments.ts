import type { Context } from '../../domain/context.ts';
import { parseId } from '../../domain/ids.ts';
import { findServiceUsers, type ServiceUserRecord, type UserRecord } from '../../domain/people/find-people.ts';
import { readUser } from '../../domain/people/list-users.ts';
import type { RoleHolder } from '../../domain/people/lock-principal.ts';
import { assignRole, unassignRole } from '../../domain/people/role-assignments.ts';
import { builder } from '../builder.ts';
import { addMutation } from './add-mutation.ts';
import { clientMutationIdDescription, payloadType } from './payloads.ts';
import { ServiceUser, User } from './people.ts';
import { organizationIdOf, ScopeInput } from './places.ts';

interface Holder {
  readonly user: UserRecord | null;
  readonly serviceUser: ServiceUserRecord | null;
}

const PrincipalInput = builder.inputType('PrincipalInput', {
  isOneOf: true,
  description: 'A user or a service user. Exactly one member.',
  fields: (t) => ({
    userId: t.id({ description: 'A user: its global ID, or any form of its id, such as "user-…".' }),
    serviceUserId: t.id({ description: 'A service user: its global ID, or any form of its id.' }),
  }),
});

const descriptions = {
  principal: 'The user or service user whose role it is.',
  scope: 'The organization in which the role is held, or the enterprise.',
} as const;

const payloadDescriptions = {
  user: 'The user, if it is one.',
  serviceUser: 'The service user, if it is one.',
} as const;

const AssignRoleInput = builder.inputType('AssignRoleInput', {
  description: 'Who is to have which role, and where.',
  fields: (t) => ({
    principal: t.field({ type: PrincipalInput, required: true, description: descriptions.principal }),
    scope: t.field({ type: ScopeInput, required: true, description: descriptions.scope }),
    roleId: t.id({ required: true, description: 'The role: its global ID or its id.' }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const AssignRolePayload = payloadType<Holder>('AssignRolePayload', 'Who was given a role.', (t) => ({
  user: t.expose('user', { type: User, nullable: true, description: payloadDescriptions.user }),
  serviceUser: t.expose('serviceUser', {
    type: ServiceUser,
    nullable: true,
    description: payloadDescriptions.serviceUser,
  }),
}));

addMutation('assignRole', {
  input: AssignRoleInput,
  payload: AssignRolePayload,
  needs: [['assignRole', 'assignServiceUserRole']],
  description:
    'Gives a user or a service user a role as its only one in a place. The caller must hold all permissions of the role, and all that the other holds already. The second permission is for service users.',
  act: async (input, { domain }) => {
    const principal = holderOf(input.principal);
    await assignRole(domain, { principal, organizationId: organizationIdOf(input.scope), roleId: input.roleId });
    return readHolder(domain, principal);
  },
});

const UnassignRoleInput = builder.inputType('UnassignRoleInput', {
  description: 'Whose role is to be taken away, and where.',
  fields: (t) => ({
    principal: t.field({ type: PrincipalInput, required: true, description: descriptions.principal }),
    scope: t.field({ type: ScopeInput, required: true, description: descriptions.scope }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const UnassignRolePayload = payloadType<Holder>('UnassignRolePayload', 'Whose role was taken away.', (t) => ({
  user: t.expose('user', { type: User, nullable: true, description: payloadDescriptions.user }),
  serviceUser: t.expose('serviceUser', {
    type: ServiceUser,
    nullable: true,
    description: payloadDescriptions.serviceUser,
  }),
}));

addMutation('unassignRole', {
  input: UnassignRoleInput,
  payload: UnassignRolePayload,
  needs: [['assignRole', 'assignServiceUserRole']],
  description: 'Takes somebody’s role in a place away; NOT_FOUND where there is none.',
  act: async (input, { domain }) => {
    const principal = holderOf(input.principal);
    await unassignRole(domain, { principal, organizationId: organizationIdOf(input.scope) });
    return readHolder(domain, principal);
  },
});

function holderOf({ userId, serviceUserId }: typeof PrincipalInput.$inferInput): RoleHolder {
  return userId == null ? { serviceUserId: serviceUserId ?? '' } : { userId };
}

async function readHolder(domain: Context, principal: RoleHolder): Promise<Holder> {
  if ('userId' in principal) return { user: await readUser(domain, principal.userId), serviceUser: null };
  const id = parseId('serviceUser', principal.serviceUserId);
  const [serviceUser = null] = id === null ? [] : await findServiceUsers(domain, [id]);
  return { user: null, serviceUser };
}
