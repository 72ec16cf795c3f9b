import { type Numbers, plural } from './kit.ts';

export const permissions = {
  ofOrganization: {
    USE_SESSIONS: 'Start sessions, and continue their own',
    VIEW_ORG_SESSIONS: 'View all sessions, their usage, playbooks and knowledge',
    MANAGE_ORG_SESSIONS: 'Message, suspend, archive and terminate all sessions',
    IMPERSONATE_ORG_SESSIONS: 'Start sessions and send messages on behalf of members',
    MANAGE_ORG_SECRETS: 'Create, edit and delete secrets',
    MANAGE_ORG_KNOWLEDGE: 'Create, edit and delete notes and folders',
    MANAGE_ORG_PLAYBOOKS: 'Create, edit and delete playbooks',
    MANAGE_ORG_SCHEDULES: 'Create and edit schedules (deprecated)',
    VIEW_ORG_AUTOMATIONS: 'View automations and their runs',
    MANAGE_ORG_AUTOMATIONS: 'Create, edit and run automations and webhooks',
    USE_PERSONAL_AUTOMATIONS: 'Let automations run on their own behalf',
    MANAGE_ORG_SERVICE_USERS: 'Create, edit and revoke service users and keys',
    VIEW_ORG_MEMBERSHIP: 'See who belongs to an organization, and by which roles',
  },
  ofEnterprise: {
    READ_ACCOUNT_META: 'View the list of organizations',
    MANAGE_ENTERPRISE_SETTINGS: 'Edit the IP access list, tags and settings, and view the audit log',
    MANAGE_ORGANIZATIONS: 'Create, edit and delete organizations',
    MANAGE_ACCOUNT_MEMBERSHIP: 'Create and remove users, and assign roles',
    VIEW_ACCOUNT_MEMBERSHIP: 'View users and roles',
    MANAGE_ACCOUNT_SERVICE_USERS: 'Create, edit and revoke service users and keys of the enterprise',
    MANAGE_BILLING: 'Edit ACU limits',
    VIEW_ACCOUNT_CONSUMPTION: 'View the usage of all organizations',
    VIEW_ACCOUNT_METRICS: 'View the metrics of all organizations',
    VIEW_ACCOUNT_SESSIONS: 'View the sessions of all organizations',
    MANAGE_ACCOUNT_SESSIONS: 'Message and end the sessions of all organizations',
    MANAGE_ACCOUNT_PLAYBOOKS: 'Create, edit and delete playbooks for all organizations',
    MANAGE_ACCOUNT_KNOWLEDGE: 'Create, edit and delete notes for all organizations',
  },
};

export const roleForm = {
  newRole: 'New role',
  create: 'Create role',
};

export const rolesPage = {
  noAccess: 'You can’t view roles',
  builtIn: 'Built-in',
  permissions: ({ count }: Numbers<'count'>) => plural(count, { one: '# permission', other: '# permissions' }),
  newRole: 'New role',
  emptyTitle: 'No roles',
  emptyText: 'A role is a set of permissions. Create one and assign it to users.',
  deleteText: 'A role can be deleted only when nobody has it.',
};
