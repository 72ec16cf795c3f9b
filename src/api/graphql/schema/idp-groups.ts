import { permissionFor } from '../../../auth/permissions.ts';
import type { Context } from '../../../domain/context.ts';
import { assignGroupRole, unassignGroupRoles } from '../../../domain/identity/idp-groups/group-roles.ts';
import { type IdpGroupRecord, idpGroupsOf, nameOfIdpGroup } from '../../../domain/identity/idp-groups/idp-groups.ts';
import { deleteIdpGroup, registerIdpGroups } from '../../../domain/identity/idp-groups/register-idp-groups.ts';
import { useEnterpriseOrganization } from '../../../domain/identity/organizations/use-enterprise-organization.ts';
import { usersOfGroup } from '../../../domain/identity/people/list-users.ts';
import { globalId } from '../../../domain/ids.ts';
import { builder } from '../builder.ts';
import { addList, listTypes } from './add-list.ts';
import { addMutation, type InputFields } from './add-mutation.ts';
import { Enterprise } from './enterprise-ref.ts';
import { createdBounds, filterInput, orderInput, parseListFilter, readIds } from './list-inputs.ts';
import { restIdField } from './organization-ref.ts';
import { roleAssignments, roleAssignmentsOfHolder } from './people.ts';
import { organizationIdOf, ScopeInput } from './scope-input.ts';
import { UserFilterInput, UserList, UserOrderInput } from './users.ts';

/** A registered group of an identity provider. */
export const IdpGroup = builder.objectRef<IdpGroupRecord>('IdpGroup');
builder.node(IdpGroup, {
  description:
    'A group of an identity provider that the enterprise has registered. The users who were in it at their last sign-in, and those whom a directory has added by SCIM, have its roles, in addition to their own.',
  id: { resolve: ({ id }) => id, description: 'Global ID of the group, unique across all types.' },
  fields: (t) => ({
    idpGroupId: restIdField(t, 'idpGroup', 'Id of the group: `idp-group-` and 32 hexadecimal digits.'),
    name: t.exposeString('name', {
      description:
        'Name of the group as the provider sends it, after the prefix of the provider. Unique in the enterprise.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time when the group was registered.' }),
  }),
});

addList(IdpGroup, 'roleAssignments', {
  ...roleAssignments,
  description: 'Roles of the group: at most one on the enterprise, and one in each organization.',
  read: roleAssignmentsOfHolder('idpGroup'),
});

addList(IdpGroup, 'members', {
  types: UserList,
  description:
    'Users who were in the group at their last sign-in, or whom a directory has added by SCIM. They have its roles.',
  needs: 'viewEnterpriseMembers',
  filter: UserFilterInput,
  order: UserOrderInput,
  read: ({ id }, args, { domain }) => {
    const filter = { ...parseListFilter(args.filter), roleIds: readIds('role', args.filter?.roleIds) };
    return usersOfGroup(domain, id, filter, args.orderBy);
  },
});

const IdpGroupFilterInput = filterInput('IdpGroup', (t) => ({
  search: t.string({ description: 'Only groups whose name contains this text, regardless of case.' }),
  roleIds: t.idList({
    description: 'Only groups with one of these roles, on the enterprise or in any of its organizations.',
  }),
  ...createdBounds(t),
}));

const IdpGroupOrderInput = orderInput('IdpGroup', 'Time when the group was registered.', {
  name: 'The first 64 characters of the name, regardless of case.',
});

addList(Enterprise, 'idpGroups', {
  types: listTypes(IdpGroup, 'IdpGroup'),
  description: 'Groups of identity providers that the enterprise has registered, with or without roles.',
  needs: 'viewEnterpriseMembers',
  filter: IdpGroupFilterInput,
  order: IdpGroupOrderInput,
  read: (_enterprise, args, { domain }) => {
    const filter = { ...parseListFilter(args.filter), roleIds: readIds('role', args.filter?.roleIds) };
    return idpGroupsOf(domain, filter, args.orderBy);
  },
});

addMutation('registerIdpGroups', {
  description:
    'Registers groups of identity providers, so that they can have roles. Groups that are registered already stay as they are. An enterprise can have 10,000.',
  needs: ['assignRole'],
  input: (t) => ({
    groupNames: t.stringList({
      required: true,
      description: 'Names of the groups as the provider sends them, after the prefix of the provider. 1 to 100.',
    }),
  }),
  payload: {
    idpGroups: {
      type: [IdpGroup],
      description: 'The groups in the order of the names, without duplicates. Null if there are user errors.',
    },
  },
  act: async (input, { domain }) => ({ idpGroups: [...(await registerIdpGroups(domain, input))] }),
});

const groupId = (t: InputFields) => ({
  idpGroupId: t.id({ required: true, description: 'Global ID or id of the group (`idp-group-…`).' }),
});

addMutation('deleteIdpGroup', {
  description:
    'Removes a group with its roles, which its members lose at once. The caller must hold all permissions of these roles.',
  needs: ['assignRole'],
  input: groupId,
  payload: { deletedIdpGroupId: 'ID' },
  act: async ({ idpGroupId }, { domain }) => {
    const { id } = await deleteIdpGroup(domain, await nameOfIdpGroup(domain, idpGroupId));
    return { deletedIdpGroupId: globalId('idpGroup', id) };
  },
});

const scope = (t: InputFields, description: string) => t.field({ type: ScopeInput, required: true, description });

addMutation('assignIdpGroupRole', {
  description:
    'Assigns a role to a group, and replaces its other role in the scope, with effect on the next request of every member. A group needs a role on the enterprise before it gets one in an organization. The caller must hold all permissions of the role, and all that the group already has.',
  needs: ['assignRole'],
  input: (t) => ({
    ...groupId(t),
    scope: scope(t, 'The organization or the enterprise that the role is for.'),
    roleId: t.id({ required: true, description: 'Global ID or id of the role, for example `org_member`.' }),
  }),
  payload: { idpGroup: IdpGroup },
  act: async (input, { domain }) => {
    const [name, organizationId] = [await nameOfIdpGroup(domain, input.idpGroupId), await readScopeId(domain, input)];
    const { group } = await assignGroupRole(domain, { name, organizationId, roleId: input.roleId });
    return { idpGroup: group };
  },
});

addMutation('unassignIdpGroupRole', {
  description:
    'Removes the role of a group in an organization. For the enterprise, it removes all roles of the group, because those in organizations need the one on the enterprise. NOT_FOUND if there is none. The caller must hold all permissions that the group has.',
  needs: ['assignRole'],
  input: (t) => ({
    ...groupId(t),
    scope: scope(t, 'The organization whose role is removed, or the enterprise for all roles.'),
  }),
  payload: { idpGroup: IdpGroup },
  act: async (input, { domain }) => {
    const [name, organizationId] = [await nameOfIdpGroup(domain, input.idpGroupId), await readScopeId(domain, input)];
    return { idpGroup: (await unassignGroupRoles(domain, { name, organizationId })).group };
  },
});

async function readScopeId(
  domain: Context,
  { scope }: { readonly scope: typeof ScopeInput.$inferInput },
): Promise<string | null> {
  const id = organizationIdOf(scope);
  return id === null ? null : useEnterpriseOrganization(domain, id, permissionFor.assignRole);
}
