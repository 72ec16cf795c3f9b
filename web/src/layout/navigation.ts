import type { Signed } from '../app/gate.tsx';
import type { IconName } from '../ui/icons.tsx';

/** A line of the navigation. */
export interface NavigationItem {
  readonly path: string;
  readonly label: string;
  readonly icon: IconName;
  /** Left out where its viewer could do nothing there; left out itself: for everybody. */
  readonly isFor?: (signed: Signed) => boolean;
}

const mayViewAutomations = ({ may }: Signed) => may('VIEW_ORG_AUTOMATIONS') || may('MANAGE_ORG_AUTOMATIONS');

/** The navigation, in groups. A new page that belongs into it has its line here. */
export const navigation: readonly { readonly label: string; readonly items: readonly NavigationItem[] }[] = [
  { label: 'Work', items: [{ path: '/sessions', label: 'Sessions', icon: 'terminal' }] },
  {
    label: 'Manage',
    items: [
      { path: '/manage/playbooks', label: 'Playbooks', icon: 'book', isFor: ({ may }) => may('VIEW_ORG_SESSIONS') },
      { path: '/manage/knowledge', label: 'Knowledge', icon: 'thought', isFor: ({ may }) => may('VIEW_ORG_SESSIONS') },
      { path: '/manage/secrets', label: 'Secrets', icon: 'key', isFor: ({ may }) => may('MANAGE_ORG_SECRETS') },
      { path: '/manage/automations', label: 'Automations', icon: 'clock', isFor: mayViewAutomations },
    ],
  },
];
