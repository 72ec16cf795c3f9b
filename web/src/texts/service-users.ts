import type { Strings } from './kit.ts';

export const enterpriseServiceUsers = {
  enterpriseTitle: 'Enterprise service users',
};

export const keyForm = {
  createToken: 'Create token',
  namePlaceholder: 'For example, nightly build',
  expiresHint: 'The last valid day (UTC). Leave empty for no expiration.',
};

export const keyTable = {
  revoked: ({ name }: Strings<'name'>) => `Revoked ${name}.`,
  owner: 'Owner',
  lastUsed: 'Last used',
  rotateName: ({ name }: Strings<'name'>) => `Rotate ${name}`,
  revokeName: ({ name }: Strings<'name'>) => `Revoke ${name}`,
  /** The words for keys of the API, and for the tokens of a user. */
  words: {
    key: { one: 'Key', all: 'Keys', none: 'No keys yet.', made: 'New key' },
    token: { one: 'Token', all: 'Tokens', none: 'No tokens yet.', made: 'New token' },
  },
  revokeTitle: ({ name }: Strings<'name'>) => `Revoke ${name}?`,
  rotateTitle: ({ name }: Strings<'name'>) => `Rotate ${name}?`,
  stopsText: {
    key: 'The key stops working immediately. This can’t be undone.',
    token: 'The token stops working immediately. This can’t be undone.',
  },
};

export const keys = {
  createOrganizationKey: 'Create organization key',
  showMore: 'Show more',
};

export const serviceUserForm = {
  newServiceUser: 'New service user',
  create: 'Create service user',
  created: ({ name }: Strings<'name'>) => `Created ${name}. Create a key for it.`,
  expiresHint: 'The last valid day (UTC). Leave empty for no expiration.',
};

export const serviceUserPage = {
  serviceUserNotFound: 'Service user not found',
  serviceUser: 'Service user',
  id: 'ID',
  inEnterprise: ({ role }: Strings<'role'>) => `${role} in the enterprise`,
  inOrganization: ({ role, organization }: Strings<'role' | 'organization'>) => `${role} in ${organization}`,
  backToList: 'All service users and keys',
};

export const serviceUsersPage = {
  newServiceUser: 'New service user',
  serviceUsersAndKeys: 'Service users and keys',
  noServiceUsersYet: 'No service users yet',
  emptyText: 'A service user lets a program use the API. Create one, and give it a key.',
  deleteText: 'Its keys stop working immediately. Its sessions are kept.',
};
