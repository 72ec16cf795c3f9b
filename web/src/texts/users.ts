import type { Strings } from './kit.ts';

export const newUser = {
  newUser: 'New user',
  noneEnterpriseRole: 'None (enterprise role)',
};

export const roleForm = {
  selectOrganization: 'Select an organization.',
  roleSaved: 'Role saved.',
  addToOrganization: 'Add to organization',
  editRole: 'Edit role',
};

export const userPage = {
  userNotFound: 'User not found',
  notFoundText: 'The user may have been deleted.',
  editRole: ({ assignment }: Strings<'assignment'>) => `Edit the role: ${assignment}`,
  removeFrom: ({ assignment }: Strings<'assignment'>) => `Remove from ${assignment}`,
  addEnterpriseRole: 'Add enterprise role',
  addToOrganization: 'Add to organization',
  noRoles: 'This user has no roles that you can view.',
  allUsers: 'All users',
  removeTitle: ({ called, leaving }: Strings<'called' | 'leaving'>) => `Remove ${called} from ${leaving}?`,
  deleteText: 'Their roles and keys are removed. Everything they created is kept.',
  removeText: 'They and their keys lose access, unless another role grants it. Their sessions are kept.',
  nameSaved: 'Name saved.',
  id: 'ID',
  added: 'Added',
  saveName: 'Save name',
};

export const usersPage = {
  noAccess: 'You can’t view users',
  newUser: 'New user',
  searchPlaceholder: 'Name or email',
  noMatchesText: 'No user has this name or email.',
  organizations: 'Organizations',
  added: 'Added',
};
