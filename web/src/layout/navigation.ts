import type { Signed } from '../app/gate.tsx';
import { gettingStartedPath } from '../getting-started/paths.ts';
import { common } from '../texts/common.ts';
import { navigation as texts } from '../texts/layout.ts';
import type { IconName } from '../ui/icons.tsx';

/** An item of the navigation. */
export interface NavigationItem {
  readonly path: string;
  readonly label: string;
  readonly icon: IconName;
  /** Hides the item from viewers who can do nothing there; if missing, everybody sees it. */
  readonly isFor?: (signed: Signed) => boolean;
}

const mayViewAutomations = ({ may }: Signed) => may('VIEW_ORG_AUTOMATIONS') || may('MANAGE_ORG_AUTOMATIONS');
const mayChangeSettings = ({ may }: Signed) => may('MANAGE_ENTERPRISE_SETTINGS');
const mayChangeOrganization = ({ may }: Signed) => may('MANAGE_ORGANIZATIONS') || may('MANAGE_ENTERPRISE_SETTINGS');
const mayChangeOrganizations = ({ may }: Signed) => may('MANAGE_ORGANIZATIONS') && may('READ_ACCOUNT_META');
const mayChangeEnterprise = ({ may }: Signed) => may('MANAGE_BILLING') || may('MANAGE_ENTERPRISE_SETTINGS');
const mayChangeKeys = ({ may }: Signed) => may('MANAGE_ORG_SECRETS') || may('MANAGE_ENTERPRISE_SETTINGS');
/** Returns true for users who are signed in for all of their organizations: a token of theirs is for all of them too. */
export const mayHaveTokens = ({ viewer }: Signed) => viewer.user != null && viewer.organization == null;

/** Returns true if the viewer can have model keys of their own: a service user cannot, nor a user with a token for one organization. */
export const mayHaveKeys = ({ viewer, may }: Signed) =>
  viewer.user != null && viewer.organization == null && may('USE_SESSIONS');
/** Returns true if the viewer can set the service up: install agents, add keys and start a session. */
export const maySetUp = ({ may }: Signed) => may('MANAGE_ENTERPRISE_SETTINGS') && may('USE_SESSIONS');

/** A group of the navigation. */
export interface NavigationGroup {
  readonly label: string;
  readonly items: readonly NavigationItem[];
}

/** The page of the inbox. */
export const inboxPath = '/inbox';

/** The pages of everyday work, in groups. A new page that belongs there gets a line here. */
export const workNavigation: readonly NavigationGroup[] = [
  {
    label: texts.work,
    items: [
      { path: '/', label: texts.home, icon: 'home', isFor: ({ may }) => may('USE_SESSIONS') },
      { path: inboxPath, label: texts.inbox, icon: 'inbox', isFor: ({ may }) => may('VIEW_ORG_SESSIONS') },
      { path: '/sessions', label: common.sessions, icon: 'terminal' },
      { path: '/usage', label: texts.usage, icon: 'gauge', isFor: ({ may }) => may('VIEW_ORG_SESSIONS') },
    ],
  },
  {
    label: texts.manage,
    items: [
      { path: '/manage/automations', label: common.automations, icon: 'clock', isFor: mayViewAutomations },
      {
        path: '/manage/repositories',
        label: common.repositories,
        icon: 'pull',
        isFor: ({ may }) => may('VIEW_ORG_SESSIONS'),
      },
      {
        path: '/manage/playbooks',
        label: common.playbooks,
        icon: 'book',
        isFor: ({ may }) => may('VIEW_ORG_SESSIONS'),
      },
      {
        path: '/manage/knowledge',
        label: common.knowledge,
        icon: 'thought',
        isFor: ({ may }) => may('VIEW_ORG_SESSIONS'),
      },
      {
        path: '/manage/snapshots',
        label: common.snapshots,
        icon: 'folder',
        isFor: ({ may }) => may('VIEW_ORG_SESSIONS'),
      },
      { path: '/manage/secrets', label: common.secrets, icon: 'key', isFor: ({ may }) => may('MANAGE_ORG_SECRETS') },
      {
        path: '/manage/webhooks',
        label: common.webhooks,
        icon: 'bell',
        isFor: ({ may }) => may('MANAGE_ORG_AUTOMATIONS'),
      },
    ],
  },
];

/** The pages behind the entry "Settings", in groups. */
export const settingsNavigation: readonly NavigationGroup[] = [
  {
    label: texts.yourAccount,
    items: [
      { path: '/manage/my-tokens', label: common.myTokens, icon: 'terminal', isFor: mayHaveTokens },
      { path: '/manage/my-model-keys', label: common.myModelKeys, icon: 'key', isFor: mayHaveKeys },
    ],
  },
  {
    label: common.organization,
    items: [
      { path: '/manage/organization', label: common.organization, icon: 'gear', isFor: mayChangeOrganization },
      { path: '/manage/members', label: common.members, icon: 'users', isFor: ({ may }) => may('VIEW_ORG_MEMBERSHIP') },
      {
        path: '/manage/service-users',
        label: texts.serviceUsersAndKeys,
        icon: 'terminal',
        isFor: ({ may }) => may('MANAGE_ORG_SERVICE_USERS'),
      },
      { path: '/manage/model-keys', label: common.modelKeys, icon: 'key', isFor: mayChangeKeys },
    ],
  },
  {
    label: common.enterprise,
    items: [
      { path: '/manage/enterprise', label: common.enterprise, icon: 'system', isFor: mayChangeEnterprise },
      { path: '/manage/organizations', label: texts.organizations, icon: 'building', isFor: mayChangeOrganizations },
      { path: '/manage/users', label: common.users, icon: 'user', isFor: ({ may }) => may('VIEW_ACCOUNT_MEMBERSHIP') },
      {
        path: '/manage/groups',
        label: common.groups,
        icon: 'users',
        isFor: ({ may }) => may('VIEW_ACCOUNT_MEMBERSHIP'),
      },
      { path: '/manage/roles', label: common.roles, icon: 'check', isFor: ({ may }) => may('VIEW_ACCOUNT_MEMBERSHIP') },
      { path: '/manage/agents', label: texts.agents, icon: 'power', isFor: mayChangeSettings },
      { path: '/manage/git', label: texts.git, icon: 'pull', isFor: mayChangeOrganization },
      { path: '/manage/audit-log', label: texts.auditLog, icon: 'file', isFor: mayChangeSettings },
      { path: '/manage/legal-holds', label: common.legalHolds, icon: 'pin', isFor: mayChangeSettings },
      { path: '/manage/legacy-api', label: texts.legacyApi, icon: 'link', isFor: mayChangeSettings },
      { path: gettingStartedPath, label: texts.gettingStarted, icon: 'play', isFor: maySetUp },
    ],
  },
];

/** Returns the groups of a navigation without the items that the viewer can do nothing with, and without empty groups. */
export function visibleGroups(groups: readonly NavigationGroup[], signed: Signed): readonly NavigationGroup[] {
  return groups
    .map(({ label, items }) => ({ label, items: items.filter(({ isFor }) => isFor?.(signed) ?? true) }))
    .filter(({ items }) => items.length > 0);
}

/** Returns true if a location is a page, or a page below it. */
export function isAt(path: string, location: string): boolean {
  return location === path || location.startsWith(`${path}/`);
}
