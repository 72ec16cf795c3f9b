import { type Numbers, plural, type Strings } from './kit.ts';

export const groupsPage = {
  noAccess: 'You can’t view groups',
  register: 'Register groups',
  searchPlaceholder: 'Group name',
  noMatchesText: 'No group has this name.',
  emptyTitle: 'No groups',
  emptyText:
    'Register a group of your identity provider by name and give it roles. Users in that group get these roles when they sign in.',
  organizations: 'Organizations',
  registered: 'Registered',
};

export const registerGroups = {
  names: 'Group names',
  hint: 'Enter one name per line, as the identity provider sends it, with the provider’s prefix.',
  noName: 'Enter at least one group name.',
  tooLong: ({ start, maximum }: Strings<'start'> & Numbers<'maximum'>) =>
    `The name “${start}…” is too long. The limit is ${maximum} characters.`,
  submit: 'Register groups',
  done: ({ count }: Numbers<'count'>) => plural(count, { one: '# group registered.', other: '# groups registered.' }),
};

export const groupPage = {
  notFound: 'Group not found',
  notFoundText: 'The group may have been removed.',
  noRoles: 'This group has no roles. Add one on the enterprise first.',
  noMembers: 'This group has no members. They join when they sign in, or when a directory adds them.',
  allGroups: 'All groups',
  facts: 'Group',
  deleteText: 'Its members immediately lose the roles that they have through this group. You can register it again.',
  removeText: 'Its members immediately lose this role.',
  removeAllText:
    'Its members immediately lose all roles of this group, because roles in organizations need one on the enterprise.',
};
