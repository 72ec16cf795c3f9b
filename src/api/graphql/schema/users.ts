import { deleteUser, updateUser } from '../../../domain/identity/people/change-users.ts';
import { deactivateUser, reactivateUser } from '../../../domain/identity/people/deactivate-users.ts';
import { usersOf } from '../../../domain/identity/people/list-users.ts';
import { createUser, inviteUsers } from '../../../domain/identity/people/users.ts';
import { globalId } from '../../../domain/ids.ts';
import { addList, listTypes } from './add-list.ts';
import { addMutation } from './add-mutation.ts';
import { Enterprise } from './enterprise-ref.ts';
import { createdBounds, filterInput, orderInput, parseListFilter, readIds } from './list-inputs.ts';
import { exceptOwn } from './needs.ts';
import { User } from './people.ts';
import { organizationIdOf, ScopeInput } from './scope-input.ts';

const userIdDescription = 'Global ID or REST id of the user (`user-…`).';

/** The types of lists of User. */
export const UserList = listTypes(User, 'User');

/** The filter of lists of User. */
export const UserFilterInput = filterInput('User', (t) => ({
  search: t.string({
    description: 'Only users whose name or email address contains this text, regardless of case.',
  }),
  email: t.string({ description: 'Only the user with exactly this email address, regardless of case.' }),
  roleIds: t.idList({
    description: 'Only users with one of these roles, on the enterprise or in any of its organizations.',
  }),
  ...createdBounds(t),
}));

/** The order of lists of User. */
export const UserOrderInput = orderInput('User', 'Time when the user was created.', {
  email: 'The first 64 characters of the email address, regardless of case.',
});

addList(Enterprise, 'users', {
  types: UserList,
  description: 'Users of the enterprise.',
  needs: 'viewEnterpriseMembers',
  filter: UserFilterInput,
  order: UserOrderInput,
  read: (_enterprise, args, { domain }) => {
    const filter = {
      ...parseListFilter(args.filter),
      roleIds: readIds('role', args.filter?.roleIds),
    };
    return usersOf(domain, filter, args.orderBy);
  },
});

/** The payload of createUser. */
export const CreateUserPayload = addMutation('createUser', {
  description: 'Creates a user in the enterprise and assigns its first role.',
  needs: ['createUser'],
  input: (t) => ({
    email: t.string({
      required: true,
      description: 'Email address of the user, unique in the enterprise, ignoring case. Maximum 320 characters.',
    }),
    name: t.string({ description: 'Name of the user; null for none. Maximum 200 characters.' }),
    scope: t.field({
      type: ScopeInput,
      required: true,
      description: 'The organization in which the user gets its first role, or the enterprise.',
    }),
    roleId: t.id({
      required: true,
      description:
        'Global ID or id of the first role of the user in the scope, for example `org_member`. The caller must hold all permissions of the role.',
    }),
  }),
  takes: 'idempotencyKey',
  payload: { user: User },
  act: async (input, context, options) => {
    const { scope, ...rest } = input;
    const user = { ...rest, organizationId: organizationIdOf(scope) };
    return { user: await createUser(context.domain, user, options) };
  },
});

addMutation('inviteUsers', {
  description:
    'Creates a user for each email address that has none yet, and assigns the new users a role on the enterprise. If an address or the role is refused, no user is created.',
  needs: ['createUser'],
  input: (t) => ({
    emails: t.stringList({
      required: true,
      description: 'Email addresses to invite, each of at most 320 characters. Maximum 100.',
    }),
    enterpriseRoleId: t.id({
      required: true,
      description: 'Global ID or id of the role that new users get on the enterprise, for example `account_member`.',
    }),
  }),
  takes: 'idempotencyKey',
  payload: {
    users: {
      type: [User],
      description:
        'Users with the email addresses, each listed once: new users, and existing users without changes. Null if there are user errors.',
    },
  },
  act: async (input, { domain }, options) => ({ users: await inviteUsers(domain, input, options) }),
});

addMutation('updateUser', {
  description:
    'Updates the name of a user. Users may update their own name; the name of another user requires MANAGE_ACCOUNT_MEMBERSHIP.',
  needs: [exceptOwn('updateUser')],
  input: (t) => ({
    userId: t.id({ required: true, description: userIdDescription }),
    name: t.string({
      description:
        'New name of the user; null clears the name, and the email address is shown instead. Maximum 200 characters.',
    }),
  }),
  payload: { user: User },
  act: async (input, { domain }) => ({ user: await updateUser(domain, input.userId, input) }),
});

addMutation('deleteUser', {
  description:
    'Deletes a user. Its roles and keys end at once. The resources that the user created are kept and still show its name.',
  needs: ['deleteUser'],
  input: (t) => ({ userId: t.id({ required: true, description: userIdDescription }) }),
  payload: { deletedUserId: 'ID' },
  act: async (input, { domain }) => {
    const { user } = await deleteUser(domain, input.userId);
    return { deletedUserId: globalId('user', user.id) };
  },
});

addMutation('deactivateUser', {
  description:
    'Deactivates a user. All its access ends at once: its keys stop working, and it cannot sign in. Its roles, keys and resources are kept until it is reactivated. The caller must hold all permissions of the user, and cannot deactivate itself.',
  needs: ['deactivateUser'],
  input: (t) => ({ userId: t.id({ required: true, description: userIdDescription }) }),
  payload: { user: User },
  act: async (input, { domain }) => ({ user: await deactivateUser(domain, input.userId) }),
});

addMutation('reactivateUser', {
  description:
    'Reactivates a deactivated user: its roles and keys count again, and it may sign in. The caller must hold all permissions of the user.',
  needs: ['deactivateUser'],
  input: (t) => ({ userId: t.id({ required: true, description: userIdDescription }) }),
  payload: { user: User },
  act: async (input, { domain }) => ({ user: await reactivateUser(domain, input.userId) }),
});
