/**
 * Permissions on an organization, by our names. REST writes some of them differently (`src/api/rest/v3/dialect.ts`).
 */
export const organizationPermissions = [
  'UseSessions',
  'ViewOrgSessions',
  'ManageOrgSessions',
  'ImpersonateOrgSessions',
  'ManageOrgSecrets',
  'ManageOrgKnowledge',
  'ManageOrgPlaybooks',
  'ManageOrgSchedules',
  'ViewOrgAutomations',
  'ManageOrgAutomations',
  'UsePersonalAutomations',
  'ManageOrgServiceUsers',
  'ViewOrgMembership',
] as const;

/** Permissions on the enterprise (docs/security.md#roles). */
export const enterprisePermissions = [
  'ReadAccountMeta',
  'ManageEnterpriseSettings',
  'ManageOrganizations',
  'ManageAccountMembership',
  'ViewAccountMembership',
  'ManageAccountServiceUsers',
  'ManageBilling',
  'ViewAccountConsumption',
  'ViewAccountMetrics',
  'ViewAccountSessions',
  'ManageAccountSessions',
  'ManageAccountPlaybooks',
  'ManageAccountKnowledge',
] as const;

/** A permission on an organization. */
export type OrganizationPermission = (typeof organizationPermissions)[number];
/** A permission on the enterprise. */
export type EnterprisePermission = (typeof enterprisePermissions)[number];
/** Any permission. */
export type Permission = OrganizationPermission | EnterprisePermission;

/** Granted to principals that may manage their own sessions, and no others. The APIs never ask for it by name. */
export const manageOwnSessions = 'ManageOwnSessions';

/** A value in the permissions of a role row. */
export type RolePermission = Permission | typeof manageOwnSessions;

/** The four built-in roles (docs/security.md#roles). */
export const builtInRoles = [
  {
    id: 'account_admin',
    name: 'Admin',
    scope: 'enterprise',
    permissions: [...enterprisePermissions, ...organizationPermissions],
  },
  { id: 'account_member', name: 'Member', scope: 'enterprise', permissions: ['ReadAccountMeta'] },
  { id: 'org_admin', name: 'Admin', scope: 'organization', permissions: [...organizationPermissions] },
  {
    id: 'org_member',
    name: 'Member',
    scope: 'organization',
    permissions: [
      'UseSessions',
      'ViewOrgSessions',
      manageOwnSessions,
      'ViewOrgAutomations',
      'UsePersonalAutomations',
      'ViewOrgMembership',
    ],
  },
] as const satisfies readonly {
  id: string;
  name: string;
  scope: 'enterprise' | 'organization';
  permissions: readonly RolePermission[];
}[];

/**
 * The single table of the permissions that the domain's actions need. For an action on one of the viewer's own
 * sessions, {@link manageOwnSessions} suffices where this table has ManageOrgSessions.
 */
export const permissionFor = {
  createSession: 'UseSessions',
  createSessionAsUser: 'ImpersonateOrgSessions',
  viewSession: 'ViewOrgSessions',
  sendMessage: 'ManageOrgSessions',
  sendMessageAsUser: 'ImpersonateOrgSessions',
  terminateSession: 'ManageOrgSessions',

  changeSession: 'ManageOrgSessions',
  viewEnterpriseSessions: 'ViewAccountSessions',
  manageEnterpriseSessions: 'ManageAccountSessions',
  uploadAttachment: 'UseSessions',
  viewAttachment: 'UseSessions',

  viewSecrets: 'UseSessions',
  changeSecrets: 'ManageOrgSecrets',
  manageOwnProviderKeys: 'UseSessions',
  manageProviderKeys: 'ManageOrgSecrets',
  manageEnterpriseProviderKeys: 'ManageEnterpriseSettings',
  viewGitConnections: 'ManageOrganizations',
  manageGitConnections: 'ManageEnterpriseSettings',
  manageGitPermissions: 'ManageOrganizations',
  viewRepositories: 'ViewOrgSessions',
  changeRepositories: 'ManageOrganizations',
  viewKnowledge: 'ViewOrgSessions',
  changeKnowledge: 'ManageOrgKnowledge',
  changeEnterpriseKnowledge: 'ManageAccountKnowledge',
  viewPlaybooks: 'ViewOrgSessions',
  changePlaybooks: 'ManageOrgPlaybooks',
  changeEnterprisePlaybooks: 'ManageAccountPlaybooks',

  viewAutomations: 'ViewOrgAutomations',
  changeAutomations: 'ManageOrgAutomations',
  runAutomationAsCreator: 'UsePersonalAutomations',
  runAutomationAsUser: 'ImpersonateOrgSessions',
  manageSchedules: 'ManageOrgSchedules',
  manageWebhooks: 'ManageOrgAutomations',

  viewConsumption: 'ViewOrgSessions',
  viewEnterpriseConsumption: 'ViewAccountConsumption',
  viewMetrics: 'ViewOrgSessions',
  viewEnterpriseMetrics: 'ViewAccountMetrics',
  changeTags: 'ManageEnterpriseSettings',
  viewLegacyCalls: 'ManageEnterpriseSettings',

  viewMembers: 'ViewOrgMembership',
  viewEnterpriseMembers: 'ViewAccountMembership',
  createUser: 'ManageAccountMembership',
  updateUser: 'ManageAccountMembership',
  deleteUser: 'ManageAccountMembership',
  deactivateUser: 'ManageAccountMembership',
  assignRole: 'ManageAccountMembership',
  removeFromOrganization: 'ManageAccountMembership',
  viewRoles: 'ViewAccountMembership',
  changeRoles: 'ManageAccountMembership',

  viewServiceUsers: 'ManageOrgServiceUsers',
  createServiceUser: 'ManageOrgServiceUsers',
  deleteServiceUser: 'ManageOrgServiceUsers',
  viewEnterpriseServiceUsers: 'ManageAccountServiceUsers',
  createEnterpriseServiceUser: 'ManageAccountServiceUsers',
  deleteEnterpriseServiceUser: 'ManageAccountServiceUsers',
  assignServiceUserRole: 'ManageAccountServiceUsers',

  createServiceKey: 'ManageOrgServiceUsers',
  manageOrganizationKeys: 'ManageOrgServiceUsers',
  manageEnterpriseServiceKeys: 'ManageAccountServiceUsers',
  manageUserKeys: 'ManageAccountMembership',
  createKeyForUser: 'ManageAccountMembership',
  manageSignInLinks: 'ManageAccountMembership',
  revokeAllKeys: 'ManageEnterpriseSettings',

  listOrganizations: 'ReadAccountMeta',
  createOrganization: 'ManageOrganizations',
  updateOrganization: 'ManageOrganizations',
  deleteOrganization: 'ManageOrganizations',
  manageAcuLimits: 'ManageBilling',

  viewIpAccessList: 'ManageEnterpriseSettings',
  changeIpAccessList: 'ManageEnterpriseSettings',
  viewAuditLog: 'ManageEnterpriseSettings',
  manageLegalHolds: 'ManageEnterpriseSettings',
  endMaintenance: 'ManageEnterpriseSettings',
  viewAgentPrograms: 'ManageEnterpriseSettings',
  changeAgentPrograms: 'ManageEnterpriseSettings',
  viewWorkers: 'ManageEnterpriseSettings',
  changeWorkers: 'ManageEnterpriseSettings',
} as const satisfies Record<string, Permission>;

/** The permissions of which any one suffices to view automations. */
export const automationViewPermissions = [permissionFor.viewAutomations, permissionFor.changeAutomations] as const;
