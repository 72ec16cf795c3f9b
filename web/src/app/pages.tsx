import { type ComponentType, lazy, Suspense } from 'react';
import { Link, Route, Switch, useLocation } from 'wouter';
import { FirstPage } from '../getting-started/first-page.tsx';
import { gettingStartedPath } from '../getting-started/paths.ts';
import { Shell } from '../layout/shell.tsx';
import { pages as texts } from '../texts/app.ts';
import { common } from '../texts/common.ts';
import { ErrorBoundary } from '../ui/error-boundary.tsx';
import { Empty, Loading } from '../ui/states.tsx';
import { FocusOnNavigation } from './focus-on-navigation.tsx';
import { loadWithRetry } from './load-with-retry.ts';
import { SessionChunk } from './session-chunk.tsx';

interface PageEntry {
  readonly path: string;
  // biome-ignore lint/suspicious/noExplicitAny: what a page gets are the names in its path, which only it knows.
  readonly page: ComponentType<any>;
}

/** Every page by its path, each loaded when first opened. The first match is shown. */
const pages = [
  {
    path: '/inbox',
    page: lazy(async () => ({ default: (await loadWithRetry(() => import('../inbox/inbox-page.tsx'))).InboxPage })),
  },
  {
    path: '/sessions',
    page: lazy(async () => ({
      default: (await loadWithRetry(() => import('../sessions/sessions-page.tsx'))).SessionsPage,
    })),
  },
  {
    path: '/sessions/:id',
    page: SessionChunk,
  },
  {
    path: '/manage/secrets',
    page: lazy(async () => ({
      default: (await loadWithRetry(() => import('../secrets/secrets-page.tsx'))).SecretsPage,
    })),
  },
  {
    path: '/manage/playbooks',
    page: lazy(async () => ({
      default: (await loadWithRetry(() => import('../manage/playbooks/playbooks-page.tsx'))).PlaybooksPage,
    })),
  },
  {
    path: '/manage/playbooks/:id',
    page: lazy(async () => ({
      default: (await loadWithRetry(() => import('../manage/playbooks/playbook-page.tsx'))).PlaybookPage,
    })),
  },
  {
    path: '/manage/snapshots',
    page: lazy(async () => ({
      default: (await loadWithRetry(() => import('../manage/snapshots/snapshots-page.tsx'))).SnapshotsPage,
    })),
  },
  {
    path: '/manage/repositories',
    page: lazy(async () => ({
      default: (await loadWithRetry(() => import('../manage/repositories/repositories-page.tsx'))).RepositoriesPage,
    })),
  },
  {
    path: '/manage/repositories/:id',
    page: lazy(async () => ({
      default: (await loadWithRetry(() => import('../manage/repositories/repository-page.tsx'))).RepositoryPage,
    })),
  },
  {
    path: '/manage/knowledge',
    page: lazy(async () => ({
      default: (await loadWithRetry(() => import('../manage/knowledge/knowledge-page.tsx'))).KnowledgePage,
    })),
  },
  {
    path: '/manage/knowledge/:id',
    page: lazy(async () => ({
      default: (await loadWithRetry(() => import('../manage/knowledge/note-page.tsx'))).NotePage,
    })),
  },
  {
    path: '/manage/automations',
    page: lazy(async () => ({
      default: (await loadWithRetry(() => import('../manage/automations/automations-page.tsx'))).AutomationsPage,
    })),
  },
  {
    path: '/manage/automations/:id',
    page: lazy(async () => ({
      default: (await loadWithRetry(() => import('../manage/automations/automation-page.tsx'))).AutomationPage,
    })),
  },
  {
    path: '/manage/webhooks',
    page: lazy(async () => ({
      default: (await loadWithRetry(() => import('../manage/webhooks/webhooks-page.tsx'))).WebhooksPage,
    })),
  },
  {
    path: '/manage/webhooks/:id',
    page: lazy(async () => ({
      default: (await loadWithRetry(() => import('../manage/webhooks/webhook-page.tsx'))).WebhookPage,
    })),
  },
  {
    path: '/manage/members',
    page: lazy(async () => ({
      default: (await loadWithRetry(() => import('../manage/members/members-page.tsx'))).MembersPage,
    })),
  },
  {
    path: '/manage/users',
    page: lazy(async () => ({ default: (await import('../manage/users/users-page.tsx')).UsersPage })),
  },
  {
    path: '/manage/users/:id',
    page: lazy(async () => ({ default: (await import('../manage/users/user-page.tsx')).UserPage })),
  },
  {
    path: '/manage/organizations',
    page: lazy(async () => ({
      default: (await import('../manage/organizations/organizations-page.tsx')).OrganizationsPage,
    })),
  },
  {
    path: '/manage/roles',
    page: lazy(async () => ({
      default: (await loadWithRetry(() => import('../manage/roles/roles-page.tsx'))).RolesPage,
    })),
  },
  {
    path: '/manage/service-users',
    page: lazy(async () => ({
      default: (await loadWithRetry(() => import('../manage/service-users/service-users-page.tsx'))).ServiceUsersPage,
    })),
  },
  {
    path: '/manage/service-users/:id',
    page: lazy(async () => ({
      default: (await loadWithRetry(() => import('../manage/service-users/service-user-page.tsx'))).ServiceUserPage,
    })),
  },
  {
    path: '/manage/organization',
    page: lazy(async () => ({
      default: (await loadWithRetry(() => import('../manage/settings/settings-page.tsx'))).SettingsPage,
    })),
  },
  {
    path: '/manage/enterprise',
    page: lazy(async () => ({
      default: (await loadWithRetry(() => import('../manage/settings/enterprise-page.tsx'))).EnterprisePage,
    })),
  },
  {
    path: '/manage/audit-log',
    page: lazy(async () => ({
      default: (await loadWithRetry(() => import('../manage/audit/audit-page.tsx'))).AuditPage,
    })),
  },
  {
    path: '/manage/agents',
    page: lazy(async () => ({
      default: (await loadWithRetry(() => import('../manage/agents/agents-page.tsx'))).AgentsPage,
    })),
  },
  {
    path: '/manage/git',
    page: lazy(async () => ({ default: (await loadWithRetry(() => import('../manage/git/git-page.tsx'))).GitPage })),
  },
  {
    path: '/manage/git/github-app',
    page: lazy(async () => ({
      default: (await loadWithRetry(() => import('../manage/git/app-callback-page.tsx'))).AppCallbackPage,
    })),
  },
  {
    path: '/manage/git/:id/installed',
    page: lazy(async () => ({
      default: (await loadWithRetry(() => import('../manage/git/app-installed-page.tsx'))).AppInstalledPage,
    })),
  },
  {
    path: '/manage/model-keys',
    page: lazy(async () => ({
      default: (await loadWithRetry(() => import('../manage/model-keys/model-keys-page.tsx'))).ModelKeysPage,
    })),
  },
  {
    path: '/manage/my-model-keys',
    page: lazy(async () => ({
      default: (await loadWithRetry(() => import('../manage/model-keys/my-model-keys-page.tsx'))).MyModelKeysPage,
    })),
  },
  {
    path: gettingStartedPath,
    page: lazy(async () => ({
      default: (await loadWithRetry(() => import('../getting-started/getting-started-page.tsx'))).GettingStartedPage,
    })),
  },
  {
    path: '/manage/legacy-api',
    page: lazy(async () => ({
      default: (await loadWithRetry(() => import('../manage/legacy/legacy-page.tsx'))).LegacyPage,
    })),
  },
  {
    path: '/usage',
    page: lazy(async () => ({ default: (await loadWithRetry(() => import('../usage/usage-page.tsx'))).UsagePage })),
  },
] satisfies readonly PageEntry[];

/** The page of the current path, inside the common frame. */
export function Pages() {
  const [location] = useLocation();
  return (
    <Shell>
      <ErrorBoundary resetKey={location}>
        <Suspense fallback={<Loading label={common.loadingPage} />}>
          <Switch>
            <Route path="/">
              <FirstPage />
            </Route>
            {(pages as readonly PageEntry[]).map(({ path, page: Page }) => (
              <Route path={path} key={path}>
                {(params) => <Page {...params} key={location} />}
              </Route>
            ))}
            <Route>
              <Empty title={texts.pageNotFound} text={texts.pageNotFoundText}>
                <Link href="/sessions">{texts.viewAllSessions}</Link>
              </Empty>
            </Route>
          </Switch>
          <FocusOnNavigation path={location} />
        </Suspense>
      </ErrorBoundary>
    </Shell>
  );
}
