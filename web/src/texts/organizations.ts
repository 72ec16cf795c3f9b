import { rich, type Strings } from './kit.ts';

export const deleteOrganization = {
  confirmName: ({ name }: Strings<'name'>) => `Enter the name ${name} to confirm.`,
  deleteText:
    'Its sessions stop, its keys and service users are revoked, and nobody can access its data. This can’t be undone. Enter the organization’s name to confirm.',
  nameLabel: 'Organization name',
};

export const organizationForms = {
  newOrganization: 'New organization',
  create: 'Create organization',
};

export const organizationsPage = {
  noAccess: 'You can’t view organizations',
  current: 'Current',
  open: 'Open',
  newOrganization: 'New organization',
  organizations: 'Organizations',
  enterpriseNote: rich(
    'Edit the limit for all organizations and the IP access list on the <link>Enterprise</link> page.',
  ),
  searchPlaceholder: 'Name or ID',
  emptyTitle: 'No organizations',
  emptyText: 'Create an organization to start sessions.',
  noMatchesText: 'No organization has this name or ID.',
};

export const permissionNotice = {
  furtherOrganization: rich(
    'This organization can use only the repositories that its Git permissions allow. Add them in <link>Settings → Git → Permissions</link>.',
  ),
  secondOrganization: rich(
    'Once you have two organizations, each needs <link>Git permissions</link>. Add them for “{name}” first, or its sessions lose access.',
  ),
};
