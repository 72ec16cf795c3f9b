import { createRole, deleteRole, updateRole } from '../../../domain/identity/people/change-roles.ts';
import { rolesOf } from '../../../domain/identity/people/list-roles.ts';
import { globalId } from '../../../domain/ids.ts';
import { addList, listTypes } from './add-list.ts';
import { addMutation } from './add-mutation.ts';
import { Enterprise } from './enterprise-ref.ts';
import { PermissionEnum, RoleScopeEnum } from './enums.ts';
import { filterInput, orderInput, parseListFilter } from './list-inputs.ts';
import { Role } from './people.ts';

/** The types of lists of Role. */
export const RoleList = listTypes(Role, 'Role');

const RoleFilterInput = filterInput('Role', (t) => ({
  search: t.string({ description: 'Only roles whose name contains this text, regardless of case.' }),
  scope: t.field({ type: RoleScopeEnum, description: 'Only roles that can be assigned in this scope.' }),
  isBuiltIn: t.boolean({ description: 'If true, only built-in roles. If false, only custom roles.' }),
}));

const RoleOrderInput = orderInput('Role', 'Time when the role was created. Built-in roles sort before all others.', {
  name: 'The first 64 characters of the name, regardless of case.',
});

addList(Enterprise, 'roles', {
  types: RoleList,
  description: 'Custom and built-in roles.',
  needs: 'viewRoles',
  filter: RoleFilterInput,
  order: RoleOrderInput,
  defaultOrder: 'newest first, with built-in roles last',
  read: (_enterprise, args, { domain }) => rolesOf(domain, parseListFilter(args.filter), args.orderBy),
});

const permissionsDescription =
  'Permissions that the role grants, at least one. The caller must hold each of them on the enterprise or in every organization.';

/** The payload of createRole. */
export const CreateRolePayload = addMutation('createRole', {
  description: 'Creates a custom role in the enterprise.',
  needs: ['changeRoles'],
  input: (t) => ({
    name: t.string({
      required: true,
      description: 'Name of the role: 1 to 100 characters, unique within its scope, ignoring case.',
    }),
    scope: t.field({
      type: RoleScopeEnum,
      required: true,
      description:
        'Scope in which the role can be assigned. A role of scope ORGANIZATION can grant only organization permissions.',
    }),
    permissions: t.field({ type: [PermissionEnum], required: true, description: permissionsDescription }),
  }),
  takes: 'idempotencyKey',
  payload: { role: Role },
  act: async (input, { domain }, options) => ({ role: await createRole(domain, input, options) }),
});

const roleIdDescription = 'Global ID or id of the custom role.';

addMutation('updateRole', {
  description:
    'Updates a custom role. The change takes effect with the next request of every principal that has the role. INVALID_STATE for a built-in role.',
  needs: ['changeRoles'],
  input: (t) => ({
    roleId: t.id({ required: true, description: roleIdDescription }),
    name: t.string({
      description:
        'New name of the role: 1 to 100 characters, unique within its scope, ignoring case. Must not be null.',
    }),
    permissions: t.field({ type: [PermissionEnum], description: `${permissionsDescription} Must not be null.` }),
  }),
  takes: 'expectedVersion',
  payload: { role: Role },
  act: async (input, { domain }) => ({ role: await updateRole(domain, input.roleId, input) }),
});

addMutation('deleteRole', {
  description:
    'Deletes a custom role. INVALID_STATE for a built-in role, and if a principal or an active service key has the role.',
  needs: ['changeRoles'],
  input: (t) => ({ roleId: t.id({ required: true, description: roleIdDescription }) }),
  takes: 'expectedVersion',
  payload: { deletedRoleId: 'ID' },
  act: async (input, { domain }) => ({
    deletedRoleId: globalId('role', await deleteRole(domain, input.roleId, input)),
  }),
});
