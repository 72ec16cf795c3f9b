import type { Permission } from '../../__generated__/roleFormCreateMutation.graphql.ts';

/** What a role on an organization can hold. */
export const organizationPermissions = [
  'USE_SESSIONS',
  'VIEW_ORG_SESSIONS',
  'MANAGE_ORG_SESSIONS',
  'IMPERSONATE_ORG_SESSIONS',
  'MANAGE_ORG_SECRETS',
  'MANAGE_ORG_KNOWLEDGE',
  'MANAGE_ORG_PLAYBOOKS',
  'MANAGE_ORG_SCHEDULES',
  'VIEW_ORG_AUTOMATIONS',
  'MANAGE_ORG_AUTOMATIONS',
  'USE_PERSONAL_AUTOMATIONS',
  'MANAGE_ORG_SERVICE_USERS',
  'VIEW_ORG_MEMBERSHIP',
] as const satisfies readonly Permission[];

/** What a role on the enterprise can hold: it holds for all organizations. */
export const permissions = [
  'READ_ACCOUNT_META',
  'MANAGE_ENTERPRISE_SETTINGS',
  'MANAGE_ORGANIZATIONS',
  'MANAGE_ACCOUNT_MEMBERSHIP',
  'VIEW_ACCOUNT_MEMBERSHIP',
  'MANAGE_ACCOUNT_SERVICE_USERS',
  'MANAGE_BILLING',
  'VIEW_ACCOUNT_CONSUMPTION',
  'VIEW_ACCOUNT_METRICS',
  'VIEW_ACCOUNT_SESSIONS',
  'MANAGE_ACCOUNT_SESSIONS',
  'MANAGE_ACCOUNT_PLAYBOOKS',
  'MANAGE_ACCOUNT_KNOWLEDGE',
  ...organizationPermissions,
] as const satisfies readonly Permission[];
