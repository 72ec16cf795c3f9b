import { rich, type Strings } from './kit.ts';

export const newUser = {
  newUser: 'New user',
  create: 'Create user',
  noneEnterpriseRole: 'None (enterprise role)',
};

export const roleForm = {
  selectOrganization: 'Select an organization.',
  roleSaved: 'Role saved.',
  addToOrganization: 'Add to organization',
  editRole: 'Edit role',
};

export const roleList = {
  more: 'more',
  editRole: ({ assignment }: Strings<'assignment'>) => `Edit the role: ${assignment}`,
  removeFrom: ({ assignment }: Strings<'assignment'>) => `Remove from ${assignment}`,
  addEnterpriseRole: 'Add enterprise role',
  addToOrganization: 'Add to organization',
  removeTitle: ({ called, leaving }: Strings<'called' | 'leaving'>) => `Remove ${called} from ${leaving}?`,
};

export const userPage = {
  userNotFound: 'User not found',
  notFoundText: 'The user may have been deleted.',
  noRoles: 'This user has no roles that you can view.',
  allUsers: 'All users',
  deleteText: 'Their roles and keys are removed. Everything they created is kept.',
  removeText: 'They and their keys lose access, unless another role grants it. Their sessions are kept.',
  nameSaved: 'Name saved.',
  id: 'ID',
  added: 'Added',
  saveName: 'Save name',
};

export const activity = {
  deactivated: 'Deactivated',
  deactivate: 'Deactivate',
  reactivate: 'Reactivate',
  note: rich('Deactivated {time}. This user has no access until you reactivate them.'),
  title: ({ name }: Strings<'name'>) => `Deactivate ${name}?`,
  text: 'They are signed out, and their keys stop working. Their roles, keys and everything they created are kept.',
  wasDeactivated: ({ name }: Strings<'name'>) => `${name} deactivated.`,
  reactivated: ({ name }: Strings<'name'>) => `${name} reactivated.`,
};

export const signInLinks = {
  title: 'Sign-in link',
  create: 'Create sign-in link',
  createFor: ({ name }: Strings<'name'>) => `Create sign-in link: ${name}`,
  newLinkFor: ({ name }: Strings<'name'>) => `Sign-in link for ${name}`,
  passOn:
    'Send it only to this person: anyone who uses it signs in as them. It works once, within 7 days. You won’t be able to view it again.',
  link: 'Link',
  pending: rich('A link is pending until {time}. A new one replaces it.'),
  explanation: 'A link signs this person in once, without a token.',
  revoked: 'Link revoked.',
  option: 'Create a sign-in link',
};

export const usersPage = {
  noAccess: 'You can’t view users',
  newUser: 'New user',
  searchPlaceholder: 'Name or email',
  noMatchesText: 'No user has this name or email.',
  organizations: 'Organizations',
  added: 'Added',
};
