import type { Permission } from '../__generated__/gateQuery.graphql.ts';
import type { Signed } from '../app/gate.tsx';
import { isAt, settingsNavigation, workNavigation } from './navigation.ts';

/** Pages that have nothing for viewers for whom the navigation hides them. Others say so themselves. */
const hidden = ['/manage/organization', '/manage/secrets', '/manage/service-users', '/manage/webhooks'];

/** Pages that only create something, with the permissions of which one is required. */
const creations: Readonly<Record<string, readonly Permission[]>> = {
  '/manage/automations/new': ['MANAGE_ORG_AUTOMATIONS'],
  '/manage/knowledge/new': ['MANAGE_ORG_KNOWLEDGE', 'MANAGE_ACCOUNT_KNOWLEDGE'],
  '/manage/playbooks/new': ['MANAGE_ORG_PLAYBOOKS', 'MANAGE_ACCOUNT_PLAYBOOKS'],
};

/** Returns false for a page on which the viewer can do nothing. The service decides about everything on the others. */
export function mayOpen(location: string, signed: Signed): boolean {
  const required = Object.hasOwn(creations, location) ? creations[location] : undefined;
  if (required !== undefined) return required.some((permission) => signed.may(permission));
  const path = hidden.find((each) => isAt(each, location));
  if (path === undefined) return true;
  const items = [...workNavigation, ...settingsNavigation].flatMap((group) => group.items);
  return items.find((item) => item.path === path)?.isFor?.(signed) ?? true;
}
