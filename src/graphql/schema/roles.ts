import { globalId } from '../../domain/ids.ts';
import { createRole, deleteRole, updateRole } from '../../domain/people/change-roles.ts';
import { rolesOf } from '../../domain/people/list-roles.ts';
import type { RoleRecord } from '../../domain/people/roles.ts';
import { builder } from '../builder.ts';
import { nestedConnection } from '../connections.ts';
import { addMutation } from './add-mutation.ts';
import { countedConnection } from './counted-connection.ts';
import { Enterprise } from './enterprise-ref.ts';
import { PermissionEnum, RoleScopeEnum } from './enums.ts';
import { listArgs, orderInput } from './list-inputs.ts';
import { boundary } from './needs.ts';
import { clientMutationIdDescription, expectedVersionDescription, payloadType } from './payloads.ts';
import { Role } from './people.ts';

const RoleConnection = countedConnection(Role, 'Role', {
  page: 'A page of roles.',
  edge: 'A role in a list.',
});

const RoleFilterInput = builder.inputType('RoleFilter', {
  description: 'Narrows a list of roles: all members that are given must hold.',
  fields: (t) => ({
    search: t.string({ description: 'Only roles whose name contains this text, upper and lower case alike.' }),
    scope: t.field({ type: RoleScopeEnum, description: 'Only roles that can be given there.' }),
    isBuiltIn: t.boolean({ description: 'Only built-in roles, or only the enterprise’s own; both when left out.' }),
  }),
});

const RoleOrderInput = orderInput('Role', 'When the role was made; the built-in ones before all others.', {
  name: 'The first 64 characters of the name, upper and lower case alike.',
});

builder.objectFields(Enterprise, (t) => ({
  roles: t.connection(
    {
      type: Role,
      ...boundary('viewRoles'),
      description: 'Its own roles, newest first, then the built-in ones, unless ordered otherwise.',
      args: listArgs(t.arg, RoleFilterInput, RoleOrderInput, 'the newest first, and the built-in ones last'),
      resolve: async (_enterprise, args, context) => {
        const { search, scope, isBuiltIn } = args.filter ?? {};
        const filter = {
          search: search ?? undefined,
          scope: scope ?? undefined,
          isBuiltIn: isBuiltIn ?? undefined,
        };
        return nestedConnection(context, rolesOf(context.domain, filter, args.orderBy), args);
      },
    },
    RoleConnection,
  ),
}));

const permissionsDescription = 'What it holds: nothing that the viewer does not hold everywhere.';

const CreateRoleInput = builder.inputType('CreateRoleInput', {
  description: 'What a custom role is made from.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'What to call it; unique among those of its scope.' }),
    scope: t.field({ type: RoleScopeEnum, required: true, description: 'Where it can be given.' }),
    permissions: t.field({ type: [PermissionEnum], required: true, description: permissionsDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const CreateRolePayload = payloadType<{ role: RoleRecord }>('CreateRolePayload', 'A role that was made.', (t) => ({
  role: t.expose('role', { type: Role, nullable: true, description: 'The role.' }),
}));

addMutation('createRole', {
  input: CreateRoleInput,
  payload: CreateRolePayload,
  needs: ['changeRoles'],
  description: 'Makes a custom role.',
  act: async (input, { domain }) => ({ role: await createRole(domain, input) }),
});

const roleIdDescription = 'The role: its global ID or its id.';

const UpdateRoleInput = builder.inputType('UpdateRoleInput', {
  description: 'How a custom role is to change: what is left out stays.',
  fields: (t) => ({
    roleId: t.id({ required: true, description: roleIdDescription }),
    name: t.string({ description: 'What to call it from now on; not null.' }),
    permissions: t.field({ type: [PermissionEnum], description: `${permissionsDescription} Not null.` }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const UpdateRolePayload = payloadType<{ role: RoleRecord }>('UpdateRolePayload', 'A role that was changed.', (t) => ({
  role: t.expose('role', { type: Role, nullable: true, description: 'The role.' }),
}));

addMutation('updateRole', {
  input: UpdateRoleInput,
  payload: UpdateRolePayload,
  needs: ['changeRoles'],
  description: 'Changes a custom role, with effect on the next request of all who have it.',
  act: async (input, { domain }) => ({ role: await updateRole(domain, input.roleId, input) }),
});

const DeleteRoleInput = builder.inputType('DeleteRoleInput', {
  description: 'Which custom role is to be deleted.',
  fields: (t) => ({
    roleId: t.id({ required: true, description: roleIdDescription }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const DeleteRolePayload = payloadType<{ deletedRoleId: string }>(
  'DeleteRolePayload',
  'A role that was deleted.',
  (t) => ({
    deletedRoleId: t.expose('deletedRoleId', {
      type: 'ID',
      nullable: true,
      description: 'The global ID of what is gone.',
    }),
  }),
);

addMutation('deleteRole', {
  input: DeleteRoleInput,
  payload: DeleteRolePayload,
  needs: ['changeRoles'],
  description: 'Deletes a custom role. The role must not be assigned to anybody.',
  act: async (input, { domain }) => ({
    deletedRoleId: globalId('role', await deleteRole(domain, input.roleId, input)),
  }),
});
