import type { Context } from '../../../domain/context.ts';
import {
  findServiceUsers,
  type ServiceUserRecord,
  type UserRecord,
} from '../../../domain/identity/people/find-people.ts';
import { readUser } from '../../../domain/identity/people/list-users.ts';
import type { RoleHolder } from '../../../domain/identity/people/lock-principal.ts';
import { assignRole, unassignRole } from '../../../domain/identity/people/role-assignments.ts';
import { parseId } from '../../../domain/ids.ts';
import { addMutation, type InputFields } from './add-mutation.ts';
import { ServiceUser, User } from './people.ts';
import { PrincipalInput, readPrincipal } from './principal-input.ts';
import { organizationIdOf, ScopeInput } from './scope-input.ts';

interface Holder {
  readonly user: UserRecord | null;
  readonly serviceUser: ServiceUserRecord | null;
}

const assignmentFields = (t: InputFields) => ({
  principal: t.field({
    type: PrincipalInput,
    required: true,
    description: 'The user or the service user that the role assignment is for.',
  }),
  scope: t.field({
    type: ScopeInput,
    required: true,
    description: 'The organization or the enterprise that the role assignment is for.',
  }),
});

const holder = {
  user: {
    type: User,
    description: 'The principal if it is a user; null if it is a service user, or if there are user errors.',
  },
  serviceUser: {
    type: ServiceUser,
    description: 'The principal if it is a service user; null if it is a user, or if there are user errors.',
  },
};

addMutation('assignRole', {
  description:
    'Assigns a role to a user or a service user, and replaces its other role in the scope. The caller must hold all permissions of the role, and all that the principal already holds. Users require MANAGE_ACCOUNT_MEMBERSHIP, service users MANAGE_ACCOUNT_SERVICE_USERS.',
  needs: [['assignRole', 'assignServiceUserRole']],
  input: (t) => ({
    ...assignmentFields(t),
    roleId: t.id({ required: true, description: 'Global ID or id of the role, for example `org_member`.' }),
  }),
  payload: holder,
  act: async (input, { domain }) => {
    const principal = readPrincipal(input.principal);
    await assignRole(domain, { principal, organizationId: organizationIdOf(input.scope), roleId: input.roleId });
    return readHolder(domain, principal);
  },
});

addMutation('unassignRole', {
  description:
    'Removes the role of a user or a service user in a scope. NOT_FOUND if there is none. The caller must hold all permissions that the principal holds. Users require MANAGE_ACCOUNT_MEMBERSHIP, service users MANAGE_ACCOUNT_SERVICE_USERS.',
  needs: [['assignRole', 'assignServiceUserRole']],
  input: assignmentFields,
  payload: holder,
  act: async (input, { domain }) => {
    const principal = readPrincipal(input.principal);
    await unassignRole(domain, { principal, organizationId: organizationIdOf(input.scope) });
    return readHolder(domain, principal);
  },
});

async function readHolder(domain: Context, principal: RoleHolder): Promise<Holder> {
  if ('userId' in principal) return { user: await readUser(domain, principal.userId), serviceUser: null };
  const id = parseId('serviceUser', principal.serviceUserId);
  const [serviceUser = null] = id === null ? [] : await findServiceUsers(domain, [id]);
  return { user: null, serviceUser };
}
