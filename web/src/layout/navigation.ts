import type { Signed } from '../app/gate.tsx';
import { gettingStartedPath } from '../getting-started/paths.ts';
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
/** Returns true if the viewer can have model keys of their own: a service user cannot, nor a user with a token for one organization. */
export const mayHaveKeys = ({ viewer, may }: Signed) =>
  viewer.user != null && viewer.organization == null && may('USE_SESSIONS');
const maySetUp = ({ may }: Signed) => may('MANAGE_ENTERPRISE_SETTINGS') && may('USE_SESSIONS');

/** A group of the navigation. */
export interface NavigationGroup {
  readonly label: string;
  readonly items: readonly NavigationItem[];
}

/** The pages of everyday work, in groups. A new page that belongs there gets a line here. */
export const workNavigation: readonly NavigationGroup[] = [
  {
    label: 'Work',
    items: [
      { path: '/sessions', label: 'Sessions', icon: 'terminal' },
      { path: '/usage', label: 'Usage', icon: 'gauge', isFor: ({ may }) => may('VIEW_ORG_SESSIONS') },
    ],
  },
  {
    label: 'Manage',
    items: [
      { path: '/manage/automations', label: 'Automations', icon: 'clock', isFor: mayViewAutomations },
      {
        path: '/manage/repositories',
        label: 'Repositories',
        icon: 'pull',
        isFor: ({ may }) => may('VIEW_ORG_SESSIONS'),
      },
      { path: '/manage/playbooks', label: 'Playbooks', icon: 'book', isFor: ({ may }) => may('VIEW_ORG_SESSIONS') },
      { path: '/manage/knowledge', label: 'Knowledge', icon: 'thought', isFor: ({ may }) => may('VIEW_ORG_SESSIONS') },
      { path: '/manage/snapshots', label: 'Snapshots', icon: 'folder', isFor: ({ may }) => may('VIEW_ORG_SESSIONS') },
      { path: '/manage/secrets', label: 'Secrets', icon: 'key', isFor: ({ may }) => may('MANAGE_ORG_SECRETS') },
      { path: '/manage/webhooks', label: 'Webhooks', icon: 'bell', isFor: ({ may }) => may('MANAGE_ORG_AUTOMATIONS') },
    ],
  },
];

/** The pages behind the entry "Settings", in groups. */
export const settingsNavigation: readonly NavigationGroup[] = [
  {
    label: 'Your account',
    items: [{ path: '/manage/my-model-keys', label: 'My model keys', icon: 'key', isFor: mayHaveKeys }],
  },
  {
    label: 'Organization',
    items: [
      { path: '/manage/organization', label: 'Organization', icon: 'gear', isFor: mayChangeOrganization },
      { path: '/manage/members', label: 'Members', icon: 'users', isFor: ({ may }) => may('VIEW_ORG_MEMBERSHIP') },
      {
        path: '/manage/service-users',
        label: 'Service users and keys',
        icon: 'terminal',
        isFor: ({ may }) => may('MANAGE_ORG_SERVICE_USERS'),
      },
      { path: '/manage/model-keys', label: 'Model keys', icon: 'key', isFor: mayChangeKeys },
    ],
  },
  {
    label: 'Enterprise',
    items: [
      { path: '/manage/enterprise', label: 'Enterprise', icon: 'system', isFor: mayChangeEnterprise },
      { path: '/manage/organizations', label: 'Organizations', icon: 'building', isFor: mayChangeOrganizations },
      { path: '/manage/users', label: 'Users', icon: 'user', isFor: ({ may }) => may('VIEW_ACCOUNT_MEMBERSHIP') },
      { path: '/manage/roles', label: 'Roles', icon: 'check', isFor: ({ may }) => may('VIEW_ACCOUNT_MEMBERSHIP') },
      { path: '/manage/agents', label: 'Agents', icon: 'power', isFor: mayChangeSettings },
      { path: '/manage/git', label: 'Git', icon: 'pull', isFor: mayChangeOrganization },
      { path: '/manage/audit-log', label: 'Audit log', icon: 'file', isFor: mayChangeSettings },
      { path: '/manage/legacy-api', label: 'Legacy API', icon: 'link', isFor: mayChangeSettings },
      { path: gettingStartedPath, label: 'Getting started', icon: 'play', isFor: maySetUp },
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
