import { manageOwnSessions, type Permission } from '../../auth/permissions.ts';
import { prefixedId } from '../../domain/ids.ts';
import type { MemberRecord } from '../../domain/organizations/members.ts';
import type { PageRequest } from '../../domain/pages.ts';
import type { ServiceUserRecord, UserRecord } from '../../domain/people/find-people.ts';
import { type RoleHolderKind, roleAssignmentsOf } from '../../domain/people/list-role-assignments.ts';
import type { RoleAssignmentRecord } from '../../domain/people/role-assignments.ts';
import type { RoleRecord } from '../../domain/people/roles.ts';
import type { ListOrder } from '../../domain/timed-pages.ts';
import { builder } from '../builder.ts';
import { nestedConnection } from '../connections.ts';
import type { GraphqlContext } from '../context.ts';
import { countedConnection } from './counted-connection.ts';
import { PermissionEnum, RoleScopeEnum } from './enums.ts';
import { listArgs, orderInput, readIds, requireShortLists } from './list-inputs.ts';
import { Organization } from './organization-ref.ts';
import { versionDescription } from './payloads.ts';
import { Principal } from './principals.ts';

/** Role of the contract. */
export const Role = builder.objectRef<RoleRecord>('Role');
builder.node(Role, {
  description: 'A named set of permissions.',
  id: { resolve: (role) => role.id, description: 'The global ID.' },
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'permissions' in value,
  fields: (t) => ({
    roleId: t.exposeString('id', { description: 'The id that roleId arguments take.' }),
    name: t.exposeString('name', { description: 'Its name.' }),
    scope: t.expose('scope', { type: RoleScopeEnum, description: 'Where it can be given.' }),
    version: t.exposeInt('version', { description: versionDescription }),
    isBuiltIn: t.exposeBoolean('isBuiltIn', { description: 'Whether it is one that cannot be changed.' }),
    permissions: t.field({
      type: [PermissionEnum],
      description: 'What it holds. org_member also manages its own sessions, which no other role can hold.',
      resolve: ({ permissions }) =>
        permissions.filter((permission): permission is Permission => permission !== manageOwnSessions),
    }),
  }),
});

/** RoleAssignment of the contract. */
export const RoleAssignment = builder.objectRef<RoleAssignmentRecord>('RoleAssignment').implement({
  description: 'A role in a place.',
  fields: (t) => ({
    role: t.expose('role', { type: Role, description: 'The role.' }),
    organizationId: t.string({
      nullable: true,
      description: 'The organization, as REST writes its id; null: on the enterprise.',
      resolve: ({ organizationId }) => (organizationId === null ? null : prefixedId('organization', organizationId)),
    }),
    organization: t.field({
      type: Organization,
      nullable: true,
      description: 'The organization; null: on the enterprise, or in one that the viewer may not use.',
      resolve: ({ organizationId }, _args, { loaders }) =>
        organizationId === null ? null : loaders.organizations.load(organizationId),
    }),
  }),
});

/** RoleAssignmentConnection of the contract. */
export const RoleAssignmentConnection = countedConnection(RoleAssignment, 'RoleAssignment', {
  page: 'A page of role assignments.',
  edge: 'A role assignment in a list.',
});

/** The input RoleAssignmentFilter. */
export const RoleAssignmentFilterInput = builder.inputType('RoleAssignmentFilter', {
  description: 'Narrows a list of role assignments: all members that are given must hold, and of a list any one value.',
  fields: (t) => ({
    organizationIds: t.idList({
      description: 'Only roles in one of these organizations, and none on the enterprise.',
    }),
    roleIds: t.idList({ description: 'Only assignments of one of these roles.' }),
  }),
});

/** The input RoleAssignmentOrder. */
export const RoleAssignmentOrderInput = orderInput('RoleAssignment', 'When the role was assigned.');

interface RoleListArgs extends PageRequest {
  readonly filter?: typeof RoleAssignmentFilterInput.$inferInput | null | undefined;
  readonly orderBy?: ListOrder<'createdAt'> | null | undefined;
}

/** A page of the role assignments of a user or a service user. */
export async function roleConnection(context: GraphqlContext, kind: RoleHolderKind, id: string, args: RoleListArgs) {
  const { filter, orderBy } = args;
  requireShortLists(filter ?? {});
  const narrowed = {
    organizationIds: readIds('organization', filter?.organizationIds),
    roleIds: readIds('role', filter?.roleIds),
  };
  return nestedConnection(context, roleAssignmentsOf(context.domain, kind, id, narrowed, orderBy), args);
}

/** User of the contract. */
export const User = builder.objectRef<UserRecord>('User');
builder.node(User, {
  description: 'A human of the enterprise.',
  interfaces: [Principal],
  id: { resolve: (user) => user.id, description: 'The global ID.' },
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'email' in value,
  fields: (t) => ({
    userId: t.string({ description: 'The id as REST writes it.', resolve: (user) => prefixedId('user', user.id) }),
    email: t.exposeString('email', { description: 'The address that it is known by.' }),
    name: t.exposeString('name', { nullable: true, description: 'Its name, where one was given.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    deletedAt: t.expose('deletedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when it is only the author of what it made; null: it can act.',
    }),
    roleAssignments: t.connection(
      {
        type: RoleAssignment,
        description:
          'Its roles, newest first unless ordered otherwise: those in the organizations whose members the viewer may see, and for who may see the enterprise’s all.',
        args: listArgs(t.arg, RoleAssignmentFilterInput, RoleAssignmentOrderInput),
        resolve: async ({ id }, args, context) => roleConnection(context, 'user', id, args),
      },
      RoleAssignmentConnection,
    ),
  }),
});

/** ServiceUser of the contract. */
export const ServiceUser = builder.objectRef<ServiceUserRecord>('ServiceUser');
builder.node(ServiceUser, {
  description: 'A principal that is no human, with tokens of its own.',
  interfaces: [Principal],
  id: { resolve: (user) => user.id, description: 'The global ID.' },
  isTypeOf: (value) => typeof value === 'object' && value !== null && !('email' in value) && 'expiresAt' in value,
  fields: (t) => ({
    serviceUserId: t.string({
      description: 'The id as REST writes it.',
      resolve: (user) => prefixedId('serviceUser', user.id),
    }),
    name: t.exposeString('name', {
      nullable: true,
      description:
        'Its name. A service user always has one; the type is that of User.name, beside which it can be selected.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: true, description: 'When it ends; null: never.' }),
    deletedAt: t.expose('deletedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when it is only the author of what it made; null: it can act.',
    }),
  }),
});

/** Member of the contract. */
export const Member = builder.objectRef<MemberRecord>('Member');
builder.node(Member, {
  description: 'A user’s membership of an organization.',
  id: { resolve: (member) => member.id, description: 'The global ID.' },
  fields: (t) => ({
    user: t.field({
      type: User,
      description: 'The user.',
      resolve: async (member, _args, { loaders }) => (await loaders.users.load(member.userId)) as UserRecord,
    }),
    roles: t.field({ type: [Role], description: 'What it may do there: one role.', resolve: ({ role }) => [role] }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Since when.' }),
  }),
});

/** MemberConnection of the contract. */
export const MemberConnection = countedConnection(Member, 'Member', {
  page: 'A page of members.',
  edge: 'A member in a list.',
});
