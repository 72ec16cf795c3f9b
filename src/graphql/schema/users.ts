import { globalId } from '../../domain/ids.ts';
import { deleteUser, updateUser } from '../../domain/people/change-users.ts';
import type { UserRecord } from '../../domain/people/find-people.ts';
import { usersOf } from '../../domain/people/list-users.ts';
import { createUser, inviteUsers } from '../../domain/people/users.ts';
import { builder } from '../builder.ts';
import { nestedConnection } from '../connections.ts';
import { addMutation } from './add-mutation.ts';
import { countedConnection } from './counted-connection.ts';
import { Enterprise } from './enterprise-ref.ts';
import { createdBounds, listArgs, orderInput, parseListFilter, readIds } from './list-inputs.ts';
import { boundary, exceptOwn } from './needs.ts';
import { clientMutationIdDescription, idempotencyKeyDescription, idempotencyKeyOf, payloadType } from './payloads.ts';
import { User } from './people.ts';
import { organizationIdOf, ScopeInput } from './places.ts';

const userIdDescription = 'The user: its global ID, or any form of its id.';

const UserConnection = countedConnection(User, 'User', {
  page: 'A page of users.',
  edge: 'A user in a list.',
});

const UserFilterInput = builder.inputType('UserFilter', {
  description: 'Narrows a list of users: all members that are given must hold, and of a list any one value.',
  fields: (t) => ({
    search: t.string({
      description: 'Only users whose name or email address contains this text, upper and lower case alike.',
    }),
    email: t.string({ description: 'Only the user with exactly this email address, upper and lower case alike.' }),
    roleIds: t.idList({
      description: 'Only users with one of these roles, on the enterprise or in any of its organizations.',
    }),
    ...createdBounds(t),
  }),
});

const UserOrderInput = orderInput('User', 'When the user was made.', {
  email: 'The first 64 characters of the email address, upper and lower case alike.',
});

builder.objectFields(Enterprise, (t) => ({
  users: t.connection(
    {
      type: User,
      ...boundary('viewEnterpriseMembers'),
      description: 'Its users, newest first unless ordered otherwise.',
      args: listArgs(t.arg, UserFilterInput, UserOrderInput),
      resolve: async (_enterprise, args, context) => {
        const filter = {
          ...parseListFilter(args.filter),
          email: args.filter?.email ?? undefined,
          roleIds: readIds('role', args.filter?.roleIds),
        };
        return nestedConnection(context, usersOf(context.domain, filter, args.orderBy), args);
      },
    },
    UserConnection,
  ),
}));

const CreateUserInput = builder.inputType('CreateUserInput', {
  description: 'What a user is made from.',
  fields: (t) => ({
    email: t.string({ required: true, description: 'Its address, unique in the enterprise.' }),
    name: t.string({ description: 'Its name.' }),
    scope: t.field({
      type: ScopeInput,
      required: true,
      description: 'The organization in which it gets its first role, or the enterprise.',
    }),
    roleId: t.id({
      required: true,
      description:
        'Its first role, in that scope: a global ID, or an id such as "org_member". It must hold nothing that the caller lacks.',
    }),
    idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const CreateUserPayload = payloadType<{ user: UserRecord }>('CreateUserPayload', 'A user that was made.', (t) => ({
  user: t.expose('user', { type: User, nullable: true, description: 'The user.' }),
}));

addMutation('createUser', {
  input: CreateUserInput,
  payload: CreateUserPayload,
  needs: ['createUser'],
  description: 'Makes a user with its first role.',
  act: async (input, context, info) => {
    const { scope, idempotencyKey: _key, clientMutationId: _mutation, ...rest } = input;
    const user = { ...rest, organizationId: organizationIdOf(scope) };
    const options = { idempotencyKey: idempotencyKeyOf(context, input, info) };
    return { user: await createUser(context.domain, user, options) };
  },
});

const InviteUsersInput = builder.inputType('InviteUsersInput', {
  description: 'Whom to invite.',
  fields: (t) => ({
    emails: t.stringList({ required: true, description: 'At most 100 addresses.' }),
    enterpriseRoleId: t.id({ required: true, description: 'The role on the enterprise of those who are new.' }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const InviteUsersPayload = payloadType<{ users: readonly UserRecord[] }>(
  'InviteUsersPayload',
  'Users that were invited.',
  (t) => ({
    users: t.field({
      type: [User],
      nullable: true,
      description: 'The users of the addresses, each once: new ones, and as they are those that there were.',
      resolve: ({ users }) => users && [...users],
    }),
  }),
);

addMutation('inviteUsers', {
  input: InviteUsersInput,
  payload: InviteUsersPayload,
  needs: ['createUser'],
  description: 'Makes a user of each address that has none yet, with a role on the enterprise: all, or none.',
  act: async (input, { domain }) => ({ users: await inviteUsers(domain, input) }),
});

const UpdateUserInput = builder.inputType('UpdateUserInput', {
  description: 'How a user is to change: what is left out stays.',
  fields: (t) => ({
    userId: t.id({ required: true, description: userIdDescription }),
    name: t.string({ description: 'What to call it from now on; null: by its address.' }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const UpdateUserPayload = payloadType<{ user: UserRecord }>('UpdateUserPayload', 'A user that was changed.', (t) => ({
  user: t.expose('user', { type: User, nullable: true, description: 'The user.' }),
}));

addMutation('updateUser', {
  input: UpdateUserInput,
  payload: UpdateUserPayload,
  needs: [exceptOwn('updateUser')],
  description: 'Changes a user’s name: one’s own, or that of another with MANAGE_ACCOUNT_MEMBERSHIP.',
  act: async (input, { domain }) => ({ user: await updateUser(domain, input.userId, input) }),
});

const DeleteUserInput = builder.inputType('DeleteUserInput', {
  description: 'Which user is to be deleted.',
  fields: (t) => ({
    userId: t.id({ required: true, description: userIdDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const DeleteUserPayload = payloadType<{ deletedUserId: string }>(
  'DeleteUserPayload',
  'A user that was deleted.',
  (t) => ({
    deletedUserId: t.expose('deletedUserId', {
      type: 'ID',
      nullable: true,
      description: 'The global ID of who is gone.',
    }),
  }),
);

addMutation('deleteUser', {
  input: DeleteUserInput,
  payload: DeleteUserPayload,
  needs: ['deleteUser'],
  description: 'Deletes a user: its roles and keys are gone at once, what it made stays and keeps its name.',
  act: async (input, { domain }) => {
    const { user } = await deleteUser(domain, input.userId);
    return { deletedUserId: globalId('user', user.id) };
  },
});
