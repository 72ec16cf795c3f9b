import { prefixedId } from '../../domain/ids.ts';
import type { MemberRecord } from '../../domain/organizations/members.ts';
import type { ServiceUserRecord, UserRecord } from '../../domain/people/find-people.ts';
import type { RoleRecord } from '../../domain/people/roles.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';

/** User of the contract. */
export const User = builder.objectRef<UserRecord>('User');
builder.node(User, {
  description: 'A human of the enterprise.',
  id: { resolve: (user) => user.id, description: 'The global ID.' },
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'email' in value,
  fields: (t) => ({
    userId: t.string({ description: 'The id as REST writes it.', resolve: (user) => prefixedId('user', user.id) }),
    email: t.exposeString('email', { description: 'The address that it is known by.' }),
    name: t.exposeString('name', { nullable: true, description: 'Its name, where one was given.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
  }),
});

/** ServiceUser of the contract. */
export const ServiceUser = builder.objectRef<ServiceUserRecord>('ServiceUser');
builder.node(ServiceUser, {
  description: 'A principal that is no human, with tokens of its own.',
  id: { resolve: (user) => user.id, description: 'The global ID.' },
  isTypeOf: (value) => typeof value === 'object' && value !== null && !('email' in value) && 'expiresAt' in value,
  fields: (t) => ({
    serviceUserId: t.string({
      description: 'The id as REST writes it.',
      resolve: (user) => prefixedId('serviceUser', user.id),
    }),
    name: t.exposeString('name', { description: 'Its name.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: true, description: 'When it ends; null: never.' }),
  }),
});

/** Actor of the contract. */
export const Actor = builder.unionType('Actor', {
  description: 'Who did something.',
  types: [User, ServiceUser],
  resolveType: (value) => ('email' in value ? User : ServiceUser),
});

/** Who an owner's pair of columns names; null: the agent or the service, or somebody whom the viewer may not see. */
export async function loadActor(
  { loaders }: GraphqlContext,
  owner: { userId: string | null; serviceUserId: string | null },
): Promise<UserRecord | ServiceUserRecord | null> {
  if (owner.userId !== null) return loaders.users.load(owner.userId);
  return owner.serviceUserId === null ? null : loaders.serviceUsers.load(owner.serviceUserId);
}

/** Role of the contract. */
export const Role = builder.objectRef<RoleRecord>('Role').implement({
  description: 'A named set of permissions.',
  fields: (t) => ({
    roleId: t.exposeString('id', { description: 'The id that roleId arguments take.' }),
    name: t.exposeString('name', { description: 'Its name.' }),
    scope: t.exposeString('scope', { description: '"enterprise" or "organization".' }),
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
export const MemberConnection = builder.connectionObject(
  { type: Member, name: 'MemberConnection', description: 'A page of members.' },
  { name: 'MemberEdge', description: 'A member in a list.' },
);
