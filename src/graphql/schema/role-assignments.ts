import type { Context } from '../../domain/context.ts';
import { refuse } from '../../domain/errors.ts';
import { parseId } from '../../domain/ids.ts';
import { findServiceUsers, type ServiceUserRecord, type UserRecord } from '../../domain/people/find-people.ts';
import { readUser } from '../../domain/people/list-users.ts';
import type { RoleHolder } from '../../domain/people/lock-principal.ts';
import { assignRole, unassignRole } from '../../domain/people/role-assignments.ts';
import { builder } from '../builder.ts';
import { addMutation } from './add-mutation.ts';
import { clientMutationIdDescription, payloadType } from './payloads.ts';
import { ServiceUser, User } from './people.ts';

interface Holder {
  readonly user: UserRecord | null;
  readonly serviceUser: ServiceUserRecord | null;
}

const idDescriptions = {
  userId: 'The user: its global ID, or any form of its id. Either this or serviceUserId.',
  serviceUserId: 'The service user, likewise.',
  organizationId: 'Where; on the enterprise when left out.',
} as const;

const payloadDescriptions = {
  user: 'The user, if it is one.',
  serviceUser: 'The service user, if it is one.',
} as const;

const AssignRoleInput = builder.inputType('AssignRoleInput', {
  description: 'Who is to have which role, and where.',
  fields: (t) => ({
    userId: t.id({ description: idDescriptions.userId }),
    serviceUserId: t.id({ description: idDescriptions.serviceUserId }),
    organizationId: t.id({ description: idDescriptions.organizationId }),
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
    const principal = principalOf(input);
    await assignRole(domain, { principal, organizationId: input.organizationId ?? null, roleId: input.roleId });
    return readHolder(domain, principal);
  },
});

const UnassignRoleInput = builder.inputType('UnassignRoleInput', {
  description: 'Whose role is to be taken away, and where.',
  fields: (t) => ({
    userId: t.id({ description: idDescriptions.userId }),
    serviceUserId: t.id({ description: idDescriptions.serviceUserId }),
    organizationId: t.id({ description: idDescriptions.organizationId }),
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
    const principal = principalOf(input);
    await unassignRole(domain, { principal, organizationId: input.organizationId ?? null });
    return readHolder(domain, principal);
  },
});

function principalOf(input: {
  userId?: string | null | undefined;
  serviceUserId?: string | null | undefined;
}): RoleHolder {
  const { userId, serviceUserId } = input;
  if (userId != null && serviceUserId == null) return { userId };
  if (serviceUserId != null && userId == null) return { serviceUserId };
  throw refuse(['userId'], 'Either "userId" or "serviceUserId" was expected.');
}

async function readHolder(domain: Context, principal: RoleHolder): Promise<Holder> {
  if ('userId' in principal) return { user: await readUser(domain, principal.userId), serviceUser: null };
  const id = parseId('serviceUser', principal.serviceUserId);
  const [serviceUser = null] = id === null ? [] : await findServiceUsers(domain, [id]);
  return { user: null, serviceUser };
}
