import type { ComponentType } from 'react';
import { gettingStartedPath } from '../getting-started/paths.ts';
import { loadSessionChunk } from './session-chunk.tsx';

/** The path of a session's page. */
export const sessionPath = '/sessions/:id';

// biome-ignore lint/suspicious/noExplicitAny: the props of a page are the names in its path, which only it knows.
type PageLoader = () => Promise<ComponentType<any>>;

/** The function that loads the page of each path, in the order in which paths are matched; {@link sessionPath} is not here. */
export const pageLoaders: Readonly<Record<string, PageLoader>> = {
  '/inbox': async () => (await import('../inbox/inbox-page.tsx')).InboxPage,
  '/sessions': async () => (await import('../sessions/sessions-page.tsx')).SessionsPage,
  '/manage/secrets': async () => (await import('../secrets/secrets-page.tsx')).SecretsPage,
  '/manage/playbooks': async () => (await import('../manage/playbooks/playbooks-page.tsx')).PlaybooksPage,
  '/manage/playbooks/:id': async () => (await import('../manage/playbooks/playbook-page.tsx')).PlaybookPage,
  '/manage/snapshots': async () => (await import('../manage/snapshots/snapshots-page.tsx')).SnapshotsPage,
  '/manage/repositories': async () => (await import('../manage/repositories/repositories-page.tsx')).RepositoriesPage,
  '/manage/repositories/:id': async () => (await import('../manage/repositories/repository-page.tsx')).RepositoryPage,
  '/manage/knowledge': async () => (await import('../manage/knowledge/knowledge-page.tsx')).KnowledgePage,
  '/manage/knowledge/:id': async () => (await import('../manage/knowledge/note-page.tsx')).NotePage,
  '/manage/automations': async () => (await import('../manage/automations/automations-page.tsx')).AutomationsPage,
  '/manage/automations/:id': async () => (await import('../manage/automations/automation-page.tsx')).AutomationPage,
  '/manage/webhooks': async () => (await import('../manage/webhooks/webhooks-page.tsx')).WebhooksPage,
  '/manage/webhooks/:id': async () => (await import('../manage/webhooks/webhook-page.tsx')).WebhookPage,
  '/manage/members': async () => (await import('../manage/members/members-page.tsx')).MembersPage,
  '/manage/users': async () => (await import('../manage/users/users-page.tsx')).UsersPage,
  '/manage/users/:id': async () => (await import('../manage/users/user-page.tsx')).UserPage,
  '/manage/groups': async () => (await import('../manage/groups/groups-page.tsx')).GroupsPage,
  '/manage/groups/:id': async () => (await import('../manage/groups/group-page.tsx')).GroupPage,
  '/manage/organizations': async () =>
    (await import('../manage/organizations/organizations-page.tsx')).OrganizationsPage,
  '/manage/roles': async () => (await import('../manage/roles/roles-page.tsx')).RolesPage,
  '/manage/service-users': async () =>
    (await import('../manage/service-users/service-users-page.tsx')).ServiceUsersPage,
  '/manage/service-users/:id': async () =>
    (await import('../manage/service-users/service-user-page.tsx')).ServiceUserPage,
  '/manage/organization': async () => (await import('../manage/settings/settings-page.tsx')).SettingsPage,
  '/manage/enterprise': async () => (await import('../manage/settings/enterprise-page.tsx')).EnterprisePage,
  '/manage/audit-log': async () => (await import('../manage/audit/audit-page.tsx')).AuditPage,
  '/manage/legal-holds': async () => (await import('../manage/legal-holds/legal-holds-page.tsx')).LegalHoldsPage,
  '/manage/agents': async () => (await import('../manage/agents/agents-page.tsx')).AgentsPage,
  '/manage/git': async () => (await import('../manage/git/git-page.tsx')).GitPage,
  '/manage/git/github-app': async () => (await import('../manage/git/app-callback-page.tsx')).AppCallbackPage,
  '/manage/git/:id/installed': async () => (await import('../manage/git/app-installed-page.tsx')).AppInstalledPage,
  '/manage/model-keys': async () => (await import('../manage/model-keys/model-keys-page.tsx')).ModelKeysPage,
  '/manage/my-tokens': async () => (await import('../manage/tokens/my-tokens-page.tsx')).MyTokensPage,
  '/manage/my-model-keys': async () => (await import('../manage/model-keys/my-model-keys-page.tsx')).MyModelKeysPage,
  [gettingStartedPath]: async () => (await import('../getting-started/getting-started-page.tsx')).GettingStartedPage,
  '/manage/legacy-api': async () => (await import('../manage/legacy/legacy-page.tsx')).LegacyPage,
  '/device': async () => (await import('../manage/tokens/device-page.tsx')).DevicePage,
  '/usage': async () => (await import('../usage/usage-page.tsx')).UsagePage,
};

/** Starts to load the code of the page of a path, so that it arrives while the console finds out who is signed in. */
export function preloadPage(path: string): void {
  const isMatch = (pattern: string) => new RegExp(`^${pattern.replace(/:[a-z]+/g, '[^/]+')}/?$`).test(path);
  const pattern = Object.keys(pageLoaders).find(isMatch);
  const load = isMatch(sessionPath) ? loadSessionChunk : pattern && pageLoaders[pattern];
  // The page is loaded again when it is shown, and reports the error.
  if (load) load().catch(() => undefined);
}
