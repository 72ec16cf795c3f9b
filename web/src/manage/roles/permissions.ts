import type { Permission } from '../../__generated__/roleFormCreateMutation.graphql.ts';

/** The permissions of organization roles, with their meanings. */
const ofOrganization = {
  USE_SESSIONS: 'Start sessions, and go on with one’s own',
  VIEW_ORG_SESSIONS: 'See all sessions, their usage, playbooks and knowledge',
  MANAGE_ORG_SESSIONS: 'Write to all sessions, suspend, archive and terminate them',
  IMPERSONATE_ORG_SESSIONS: 'Start sessions and write in the name of a member',
  MANAGE_ORG_SECRETS: 'Make, change and delete secrets',
  MANAGE_ORG_KNOWLEDGE: 'Make, change and delete notes and folders',
  MANAGE_ORG_PLAYBOOKS: 'Make, change and delete playbooks',
  MANAGE_ORG_SCHEDULES: 'Make and change schedules, of which automations have taken the place',
  VIEW_ORG_AUTOMATIONS: 'See automations and what they have done',
  MANAGE_ORG_AUTOMATIONS: 'Make, change and run automations and webhooks',
  USE_PERSONAL_AUTOMATIONS: 'Have automations run in one’s own name',
  MANAGE_ORG_SERVICE_USERS: 'Make and end service users and keys',
  VIEW_ORG_MEMBERSHIP: 'See who is a member',
} as const satisfies Partial<Record<Permission, string>>;

const ofEnterprise = {
  READ_ACCOUNT_META: 'See the list of its organizations',
  MANAGE_ENTERPRISE_SETTINGS: 'Change addresses, tags and settings, and read the audit log',
  MANAGE_ORGANIZATIONS: 'Make, change and delete organizations',
  MANAGE_ACCOUNT_MEMBERSHIP: 'Make and remove users, and give roles',
  VIEW_ACCOUNT_MEMBERSHIP: 'See users and roles',
  MANAGE_ACCOUNT_SERVICE_USERS: 'Make and end service users and keys of the enterprise',
  MANAGE_BILLING: 'Change limits of ACUs',
  VIEW_ACCOUNT_CONSUMPTION: 'See what all organizations have used',
  VIEW_ACCOUNT_METRICS: 'See figures of all organizations',
  VIEW_ACCOUNT_SESSIONS: 'See the sessions of all organizations',
  MANAGE_ACCOUNT_SESSIONS: 'Write to, and end, the sessions of all organizations',
  MANAGE_ACCOUNT_PLAYBOOKS: 'Make, change and delete playbooks for all organizations',
  MANAGE_ACCOUNT_KNOWLEDGE: 'Make, change and delete notes for all organizations',
} as const satisfies Partial<Record<Permission, string>>;

/** The meaning of every permission. */
export const meanings: Readonly<Record<keyof typeof ofOrganization | keyof typeof ofEnterprise, string>> = {
  ...ofEnterprise,
  ...ofOrganization,
};

/** The permissions that an organization role can have. */
export const organizationPermissions = Object.keys(ofOrganization) as (keyof typeof ofOrganization)[];

/** The permissions that an enterprise role can have: it applies to all organizations. */
export const permissions = Object.keys(meanings) as (keyof typeof meanings)[];
