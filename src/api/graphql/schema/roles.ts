import { createRole, deleteRole, updateRole } from '../../../domain/identity/people/change-roles.ts';
import { rolesOf } from '../../../domain/identity/people/list-roles.ts';
import type { RoleRecord } from '../../../domain/identity/people/roles.ts';
import { globalId } from '../../../domain/ids.ts';
import { builder } from '../builder.ts';
import { nestedConnection } from '../connections.ts';
import { addMutation } from './add-mutation.ts';
import { countedConnectionAndEdge } from './counted-connection.ts';
import { Enterprise } from './enterprise-ref.ts';
import { PermissionEnum, RoleScopeEnum } from './enums.ts';
import { listArgs, orderInput } from './list-inputs.ts';
import { boundary } from './needs.ts';
import {
  clientMutationIdDescription,
  expectedVersionDescription,
  idempotencyKeyDescription,
  keyedPayloadType,
  payloadType,
} from './payloads.ts';
import { Role } from './people.ts';

/** RoleConnection and RoleEdge. */
export const { connection: RoleConnection, edge: RoleEdge } = countedConnectionAndEdge(Role, 'Role', {
  page: 'A page of roles of the enterprise.',
  edge: 'A role in a list, with its cursor.',
});

const RoleFilterInput = builder.inputType('RoleFilter', {
  description: 'Conditions for a list of roles. An item must meet every condition that is given.',
  fields: (t) => ({
    search: t.string({ description: 'Only roles whose name contains this text, regardless of case.' }),
    scope: t.field({ type: RoleScopeEnum, description: 'Only roles that can be assigned in this scope.' }),
    isBuiltIn: t.boolean({ description: 'If true, only built-in roles. If false, only custom roles.' }),
  }),
});

const RoleOrderInput = orderInput('Role', 'Time when the role was created. Built-in roles sort before all others.', {
  name: 'The first 64 characters of the name, regardless of case.',
});

builder.objectFields(Enterprise, (t) => ({
  roles: t.connection(
    {
      type: Role,
      ...boundary('viewRoles'),
      description: 'Custom roles, newest first, then built-in roles, unless `orderBy` says otherwise.',
      args: listArgs(t.arg, RoleFilterInput, RoleOrderInput, 'newest first, with built-in roles last'),
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

const permissionsDescription =
  'Permissions that the role grants, at least one. The caller must hold each of them on the enterprise or in every organization.';

const CreateRoleInput = builder.inputType('CreateRoleInput', {
  description: 'Properties of the custom role to create.',
  fields: (t) => ({
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
    idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

/** The payload of createRole. */
export const CreateRolePayload = keyedPayloadType<{ role: RoleRecord }>(
  'CreateRolePayload',
  'Result of creating a custom role.',
  (t) => ({
    role: t.expose('role', { type: Role, nullable: true, description: 'The new role; null if there are user errors.' }),
  }),
);

addMutation('createRole', {
  input: CreateRoleInput,
  payload: CreateRolePayload,
  needs: ['changeRoles'],
  description: 'Creates a custom role in the enterprise.',
  act: async (input, { domain }, options) => ({ role: await createRole(domain, input, options) }),
});

const roleIdDescription = 'Global ID or id of the custom role.';

const UpdateRoleInput = builder.inputType('UpdateRoleInput', {
  description: 'Changes to a custom role. Fields that are left out keep their values.',
  fields: (t) => ({
    roleId: t.id({ required: true, description: roleIdDescription }),
    name: t.string({
      description:
        'New name of the role: 1 to 100 characters, unique within its scope, ignoring case. Must not be null.',
    }),
    permissions: t.field({ type: [PermissionEnum], description: `${permissionsDescription} Must not be null.` }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const UpdateRolePayload = payloadType<{ role: RoleRecord }>(
  'UpdateRolePayload',
  'Result of updating a custom role.',
  (t) => ({
    role: t.expose('role', {
      type: Role,
      nullable: true,
      description: 'The role after the change; null if there are user errors.',
    }),
  }),
);

addMutation('updateRole', {
  input: UpdateRoleInput,
  payload: UpdateRolePayload,
  needs: ['changeRoles'],
  description:
    'Updates a custom role. The change takes effect with the next request of every principal that has the role. INVALID_STATE for a built-in role.',
  act: async (input, { domain }) => ({ role: await updateRole(domain, input.roleId, input) }),
});

const DeleteRoleInput = builder.inputType('DeleteRoleInput', {
  description: 'The custom role to delete.',
  fields: (t) => ({
    roleId: t.id({ required: true, description: roleIdDescription }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const DeleteRolePayload = payloadType<{ deletedRoleId: string }>(
  'DeleteRolePayload',
  'Result of deleting a custom role.',
  (t) => ({
    deletedRoleId: t.expose('deletedRoleId', {
      type: 'ID',
      nullable: true,
      description: 'Global ID of the deleted role; null if there are user errors.',
    }),
  }),
);

addMutation('deleteRole', {
  input: DeleteRoleInput,
  payload: DeleteRolePayload,
  needs: ['changeRoles'],
  description:
    'Deletes a custom role. INVALID_STATE for a built-in role, and if a principal or an active service key has the role.',
  act: async (input, { domain }) => ({
    deletedRoleId: globalId('role', await deleteRole(domain, input.roleId, input)),
  }),
});
