import { type Numbers, plural, type Strings } from './kit.ts';

export const groupsPage = {
  noAccess: 'You can’t view groups',
  register: 'Register groups',
  searchPlaceholder: 'Group name',
  noMatchesText: 'No group has this name.',
  emptyTitle: 'No groups',
  emptyText:
    'Register a group of your identity provider by its name and give it roles. Users in that group get these roles when they sign in.',
  organizations: 'Organizations',
  registered: 'Registered',
};

export const registerGroups = {
  names: 'Group names',
  hint: 'One name on each line, as the identity provider sends it, after the prefix that is set for the provider.',
  noName: 'Enter at least one group name.',
  tooLong: ({ start, maximum }: Strings<'start'> & Numbers<'maximum'>) =>
    `The name “${start}…” is too long. The limit is ${maximum} characters.`,
  submit: 'Register',
  done: ({ count }: Numbers<'count'>) => plural(count, { one: '# group registered.', other: '# groups registered.' }),
};

export const groupPage = {
  notFound: 'Group not found',
  notFoundText: 'The group may have been removed.',
  noRoles: 'This group has no roles. Add one on the enterprise first.',
  allGroups: 'All groups',
  facts: 'Group',
  deleteText: 'Its members lose the roles that they have by this group at once. You can register it again.',
  removeText: 'Its members lose this role at once.',
  removeAllText:
    'Its members lose all roles of this group at once: those in organizations need the one on the enterprise.',
};
