import { globalId } from '../../domain/ids.ts';
import { createRole, deleteRole, updateRole } from '../../domain/people/change-roles.ts';
import { listRoles } from '../../domain/people/list-roles.ts';
import type { RoleRecord } from '../../domain/people/roles.ts';
import { builder } from '../builder.ts';
import { toConnection } from '../connections.ts';
import { pageLimits } from '../loaders.ts';
import { addMutation } from './add-mutation.ts';
import { Enterprise } from './enterprise-ref.ts';
import { PermissionEnum, RoleScopeEnum } from './enums.ts';
import { boundary } from './needs.ts';
import { clientMutationIdDescription, expectedVersionDescription, payloadType } from './payloads.ts';
import { Role } from './people.ts';

const RoleConnection = builder.connectionObject(
  { type: Role, name: 'RoleConnection', description: 'A page of roles.' },
  { name: 'RoleEdge', description: 'A role in a list.' },
);

builder.objectFields(Enterprise, (t) => ({
  roles: t.connection(
    {
      type: Role,
      ...boundary('viewRoles'),
      description: 'Its own roles, newest first, then the built-in ones.',
      resolve: async (_enterprise, page, { domain }) => toConnection(await listRoles(domain, page, pageLimits)),
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
