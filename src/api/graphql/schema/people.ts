import { manageOwnSessions, type Permission } from '../../../auth/permissions.ts';
import type { MemberRecord } from '../../../domain/identity/organizations/members.ts';
import { findUsers, type ServiceUserRecord, type UserRecord } from '../../../domain/identity/people/find-people.ts';
import { type RoleHolderKind, roleAssignmentsOf } from '../../../domain/identity/people/list-role-assignments.ts';
import type { RoleAssignmentRecord } from '../../../domain/identity/people/role-assignments.ts';
import type { RoleRecord } from '../../../domain/identity/people/roles.ts';
import { prefixedId } from '../../../domain/ids.ts';
import type { ListOrder } from '../../../domain/sorted-pages.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { addList, type ListArgs, listTypes } from './add-list.ts';
import { PermissionEnum, RoleScopeEnum } from './enums.ts';
import { filterInput, orderInput, readIds, requireShortLists } from './list-inputs.ts';
import { organizationField, restIdField } from './organization-ref.ts';
import { versionDescription } from './payloads.ts';
import { Principal } from './principals.ts';

export const Role = builder.objectRef<RoleRecord>('Role');
builder.node(Role, {
  description: 'A named set of permissions, which is assigned on the enterprise or in an organization.',
  id: { resolve: (role) => role.id, description: 'Global ID of the role, unique across all types.' },
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'permissions' in value,
  fields: (t) => ({
    roleId: t.exposeString('id', {
      description: 'Id of the role, which `roleId` inputs accept, for example `org_member`.',
    }),
    name: t.exposeString('name', { description: 'Name of the role, unique within its scope.' }),
    scope: t.expose('scope', { type: RoleScopeEnum, description: 'Scope in which the role can be assigned.' }),
    version: t.exposeInt('version', { description: versionDescription }),
    isBuiltIn: t.exposeBoolean('isBuiltIn', {
      description: 'Whether the role is built in. Built-in roles cannot be changed or deleted.',
    }),
    permissions: t.field({
      type: [PermissionEnum],
      description:
        'Permissions that the role grants. The role `org_member` also lets members manage their own sessions, which no other role can grant.',
      resolve: ({ permissions }) =>
        permissions.filter((permission): permission is Permission => permission !== manageOwnSessions),
    }),
  }),
});

export const RoleAssignment = builder.objectRef<RoleAssignmentRecord>('RoleAssignment').implement({
  description: 'A role that a user or a service user has in an organization or on the enterprise.',
  fields: (t) => ({
    role: t.expose('role', { type: Role, description: 'The role that is assigned.' }),
    organizationId: t.string({
      nullable: true,
      description:
        'REST id of the organization of the assignment (`org-…`); null if the role is assigned on the enterprise.',
      resolve: ({ organizationId }) => (organizationId === null ? null : prefixedId('organization', organizationId)),
    }),
    organization: organizationField(
      t,
      'Organization of the assignment; null if the role is assigned on the enterprise, or if the viewer may not use the organization.',
    ),
  }),
});

const RoleAssignmentList = listTypes(RoleAssignment, 'RoleAssignment');

const RoleAssignmentFilterInput = filterInput('RoleAssignment', (t) => ({
  organizationIds: t.idList({
    description: 'Only roles in one of these organizations, without roles on the enterprise.',
  }),
  roleIds: t.idList({ description: 'Only assignments of one of these roles.' }),
}));

const RoleAssignmentOrderInput = orderInput('RoleAssignment', 'Time when the role was assigned.');

export const User = builder.objectRef<UserRecord>('User');
builder.node(User, {
  description: 'A human user of the enterprise.',
  interfaces: [Principal],
  id: { resolve: (user) => user.id, description: 'Global ID of the user, unique across all types.' },
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'email' in value,
  fields: (t) => ({
    userId: restIdField(t, 'user', 'REST id of the user (`user-…`).'),
    email: t.exposeString('email', { description: 'Email address of the user, unique in the enterprise.' }),
    name: t.exposeString('name', { nullable: true, description: 'Name of the user; null if none was given.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time when the user was created.' }),
    deletedAt: t.expose('deletedAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'Time when the user was deleted; null if the user was not deleted. A deleted user remains the author of the resources that it created.',
    }),
    deactivatedAt: t.expose('deactivatedAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'Time when the user was deactivated; null if the user is active. A deactivated user has no access, and keeps its roles and keys.',
    }),
  }),
});

export const ServiceUser = builder.objectRef<ServiceUserRecord>('ServiceUser');
builder.node(ServiceUser, {
  description: 'A principal that is not human, with its own tokens and roles.',
  interfaces: [Principal],
  id: { resolve: (user) => user.id, description: 'Global ID of the service user, unique across all types.' },
  isTypeOf: (value) => typeof value === 'object' && value !== null && !('email' in value) && 'expiresAt' in value,
  fields: (t) => ({
    serviceUserId: restIdField(t, 'serviceUser', 'REST id of the service user (`service-user-…`).'),
    name: t.exposeString('name', {
      nullable: true,
      description:
        'Name of the service user. Never null; the type is nullable so that a selection can include both this field and `User.name`.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time when the service user was created.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time when the service user and its keys expire; null if the service user does not expire.',
    }),
    deletedAt: t.expose('deletedAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'Time of deletion; null if the service user was not deleted. A deleted service user remains the author of the resources that it created.',
    }),
  }),
});

/** Reads the role assignments of a principal or group. */
export const roleAssignmentsOfHolder =
  (kind: RoleHolderKind) =>
  ({ id }: { readonly id: string }, { filter, orderBy }: RoleListArgs, { domain }: GraphqlContext) => {
    requireShortLists(filter ?? {});
    const narrowed = {
      organizationIds: readIds('organization', filter?.organizationIds),
      roleIds: readIds('role', filter?.roleIds),
    };
    return roleAssignmentsOf(domain, kind, id, narrowed, orderBy);
  };

type RoleListArgs = ListArgs<typeof RoleAssignmentFilterInput.$inferInput, ListOrder<'createdAt'>>;

/** The types of lists of role assignments. */
export const roleAssignments = {
  types: RoleAssignmentList,
  filter: RoleAssignmentFilterInput,
  order: RoleAssignmentOrderInput,
};

addList(User, 'roleAssignments', {
  ...roleAssignments,
  description:
    'Roles of the user in the organizations whose members the viewer may see; all roles if the viewer may see the members of the enterprise.',
  read: roleAssignmentsOfHolder('user'),
});

addList(ServiceUser, 'roleAssignments', {
  ...roleAssignments,
  description:
    'Roles of the service user in the organizations whose service users the viewer manages; all roles if the viewer manages those of the enterprise.',
  read: roleAssignmentsOfHolder('serviceUser'),
});

export const Member = builder.objectRef<MemberRecord>('Member');
builder.node(Member, {
  description: 'The membership of a user in an organization.',
  id: { resolve: (member) => member.id, description: 'Global ID of the membership, unique across all types.' },
  fields: (t) => ({
    user: t.field({
      type: User,
      description: 'The user that is a member.',
      resolve: async (member, _args, { loaders }) => (await loaders.of(findUsers).load(member.userId)) as UserRecord,
    }),
    roles: t.field({
      type: [Role],
      description: 'Roles of the user in the organization. The list always has exactly one role.',
      resolve: ({ role }) => [role],
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      description: 'Time when the user became a member of the organization.',
    }),
  }),
});

/** The types of lists of Member. */
export const MemberList = listTypes(Member, 'Member');
