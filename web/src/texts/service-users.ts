import type { Strings } from './kit.ts';

export const enterpriseServiceUsers = {
  enterpriseTitle: 'Enterprise service users',
};

export const keyForm = {
  namePlaceholder: 'For example, nightly build',
  expiresHint: 'The last valid day (UTC). Leave empty for a key that never expires.',
};

export const keyTable = {
  revoked: ({ name }: Strings<'name'>) => `Revoked ${name}.`,
  owner: 'Owner',
  lastUsed: 'Last used',
  rotateName: ({ name }: Strings<'name'>) => `Rotate ${name}`,
  revokeName: ({ name }: Strings<'name'>) => `Revoke ${name}`,
  noKeys: 'No keys yet.',
  revokeTitle: ({ name }: Strings<'name'>) => `Revoke ${name}?`,
  rotateTitle: ({ name }: Strings<'name'>) => `Rotate ${name}?`,
  revokeText: 'The key stops working immediately. This can’t be undone.',
};

export const keys = {
  createOrganizationKey: 'Create organization key',
  showMore: 'Show more',
};

export const serviceUserForm = {
  newServiceUser: 'New service user',
  expiresHint: 'The last valid day (UTC). Leave empty if it should never expire.',
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
