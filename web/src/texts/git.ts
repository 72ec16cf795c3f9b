import type { Strings } from './kit.ts';

export const connectionList = {
  connected: ({ name }: Strings<'name'>) => `Connected ${name}.`,
  account: 'Account',
  lastTest: 'Last test',
  webhooksOf: ({ name }: Strings<'name'>) => `Webhooks of ${name}`,
  connections: 'Connections',
  createApp: 'Create GitHub App',
  connect: 'Add Git provider',
  intro:
    'Accounts on GitHub, GitLab and other Git providers. Agents never see the credentials: the service adds them when a session clones or pushes.',
  emptyTitle: 'No Git providers yet',
  emptyText:
    'Connect GitHub, GitLab, Gitea, Forgejo or another git server, so that sessions can work on your repositories and push to their own branches.',
  emptyTextForOthers: 'An administrator who can edit enterprise settings can connect one.',
  gitConnections: 'Git providers',
  deleteText:
    'Sessions can no longer clone or push, including those that are running. The credential and the organizations’ permissions for this connection are deleted. This can’t be undone.',
};

export const gitPage = {
  noAccess: 'You can’t manage Git providers',
  noAccessText: 'Ask an administrator for the “Manage enterprise settings” or “Manage organizations” permission.',
  git: 'Git',
  intro: 'Connect GitHub, GitLab or Gitea, and select the repositories that sessions can work on.',
  permissionsIntro:
    'With several organizations, each one can use only the repositories that its permissions allow. A single organization needs no permissions. Once you add one for a connection, only the permitted repositories of that connection can be used.',
  loadingPermissions: 'Loading permissions',
};

export const permissionDialog = {
  added: 'Permission added.',
  addTitle: 'Add permission',
  connection: 'Connection',
  pathHint: 'Includes its subgroups.',
  access: 'Access',
  cloneAndPush: 'Clone and push',
  readOnly: 'Read-only: clone, but not push',
};

export const permissionList = {
  organizationNotFound: 'Organization not found',
  noneOnlyOrganization: 'The enterprise’s only organization can use all repositories of all connections.',
  noneYet: 'This organization can’t use any repository yet.',
  noneUnknown:
    'If this is the enterprise’s only organization, it can use all repositories of all connections. Otherwise, it can’t use any yet.',
  connection: 'Connection',
  deleted: 'Deleted',
  access: 'Access',
  add: 'Add permission',
  emptyTitle: 'No permissions',
  gitPermissions: 'Git permissions',
  addProviderFirst: 'Add a Git provider first.',
  deleteText:
    'Sessions of this organization, including running ones, can no longer clone these repositories or push to them, unless another permission covers them.',
  readOnly: 'Read-only',
  cloneAndPush: 'Clone and push',
  allowPushes: 'Allow pushes',
  makeReadOnly: 'Make read-only',
};

export const permissionTarget = {
  accountLabel: 'All repositories of an account or group',
  accountField: 'Account or group',
  repositoryLabel: 'One repository',
  prefixLabel: 'All paths that start with',
  prefixField: 'Start of the path',
};

export const webhooksDialog = {
  secretTitle: ({ name }: Strings<'name'>) => `Webhook secret of ${name}`,
  address: 'Address',
  lastRefusedWebhook: 'Last refused webhook',
  lastUnreadable: 'Last unreadable webhook',
  title: ({ name }: Strings<'name'>) => `Webhooks of ${name}`,
  replaceSecret: 'Replace secret',
  createSecret: 'Create secret',
  done: 'Done',
  intro:
    'With webhooks, changes to pull requests arrive immediately. Without them, the service checks open pull requests about once a minute. Mentions and automations with repository events need webhooks.',
  notReachable: 'The Git provider must be able to reach this address. Set BASE_URL.',
  stored: 'Stored',
  noSecret: 'None. All webhooks are refused.',
  lastWebhook: 'Last webhook',
  noneLastWeek: 'None in the last week',
  replaceTitle: 'Replace the secret?',
  replaceText:
    'Webhooks signed with the previous secret are refused immediately, until you enter the new secret there.',
  replace: 'Replace',
};
