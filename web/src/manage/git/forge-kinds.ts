import type { GitProviderType } from '../../__generated__/connectionFormCreateMutation.graphql.ts';

/** A kind of git connection that this page knows. */
export type ForgeKind = Exclude<GitProviderType, '%future added value'>;

/** A member of a connection that only some kinds have. */
export type ConnectionMember = 'username' | 'token' | 'appId' | 'installationId' | 'privateKey' | 'webhookSecret';

/** A kind of git connection, in words. */
interface ForgeKindText {
  readonly label: string;
  /** The host that most connections of the kind have; empty: each has its own. */
  readonly defaultHost: string;
  /** The path of the page on which the forge creates credentials; null: the forge has none. */
  readonly credentialPath: string | null;
  readonly credentialLink: string;
  /** The permissions that the credential needs. */
  readonly help: string;
  /** Where webhooks are set up at the forge, and their events; null: the forge sends none. */
  readonly webhookHelp: string | null;
  /** The members that the kind takes: true if it needs them. */
  readonly members: Readonly<Partial<Record<ConnectionMember, boolean>>>;
}

/** The kinds of git connections, in the order of the form. */
export const forgeKinds: Readonly<Record<ForgeKind, ForgeKindText>> = {
  GITHUB_APP: {
    label: 'GitHub App',
    defaultHost: 'github.com',
    credentialPath: '/settings/apps/new',
    credentialLink: 'Create an App by hand',
    help: 'Enter an App that exists. The App needs read and write access to contents, pull requests and issues, and read access to checks, commit statuses and actions. Install it on the account whose repositories sessions use. Its credentials expire after an hour, so it is the best choice for GitHub.',
    webhookHelp:
      'At GitHub, open the settings of the App, and find the section Webhook. Subscribe to pull requests, reviews, review comments, issues, issue comments, check runs, statuses and pushes.',
    members: { appId: true, installationId: false, privateKey: true, webhookSecret: false },
  },
  GITHUB_TOKEN: {
    label: 'GitHub token',
    defaultHost: 'github.com',
    credentialPath: '/settings/personal-access-tokens/new',
    credentialLink: 'Create a token at GitHub',
    help: 'A fine-grained token needs read and write access to contents and pull requests, and read access to checks, commit statuses and actions. A classic token needs the scope repo.',
    webhookHelp:
      'At GitHub, open the settings of the repository or organization, and choose Webhooks. Choose the content type application/json, and the events pull requests, reviews, review comments, issues, issue comments, check runs, statuses and pushes.',
    members: { token: true, webhookSecret: false },
  },
  GITLAB_TOKEN: {
    label: 'GitLab',
    defaultHost: 'gitlab.com',
    credentialPath: '/-/user_settings/personal_access_tokens',
    credentialLink: 'Create a token at GitLab',
    help: 'A personal, group or project access token with the scopes api and write_repository. The role of its account must allow pushes and merge requests.',
    webhookHelp:
      'At GitLab, open the settings of the project or group, and choose Webhooks. Enter the secret as the secret token, and choose merge request, issue, comment, job, pipeline and push events.',
    members: { token: true, webhookSecret: false },
  },
  GITEA_TOKEN: {
    label: 'Gitea or Forgejo',
    defaultHost: '',
    credentialPath: '/user/settings/applications',
    credentialLink: 'Create a token at this server',
    help: 'A token with the scopes read:user, write:repository and write:issue.',
    webhookHelp:
      'At the forge, open the settings of the repository or organization, and choose Webhooks. Choose POST with application/json, and pull request, review, issue, comment, status and push events.',
    members: { token: true, webhookSecret: false },
  },
  GIT_HTTPS: {
    label: 'Git over HTTPS',
    defaultHost: '',
    credentialPath: null,
    credentialLink: '',
    help: 'Any server with git over HTTPS. The account needs read access, and write access for pushes. There are no pull requests and no lists of repositories.',
    webhookHelp: null,
    members: { username: false, token: false },
  },
};

/** Returns true for a kind that this page knows. */
export const isForgeKind = (kind: GitProviderType): kind is ForgeKind => kind in forgeKinds;

/** The name of a kind for display. */
export const forgeKindLabel = (kind: GitProviderType): string =>
  isForgeKind(kind) ? forgeKinds[kind].label : 'Other kind';

function addressOf(host: string): URL | null {
  const text = host.trim();
  const address = /^https?:\/\//i.test(text) ? text : `https://${text}`;
  return text !== '' && URL.canParse(address) ? new URL(address) : null;
}

/** Returns the first of these connections that has the same host; null: none. */
export function findSameHost<Connection extends { readonly host: string }>(
  connections: readonly Connection[],
  host: string,
): Connection | null {
  const wanted = addressOf(host)?.host;
  return (wanted !== undefined && connections.find((each) => addressOf(each.host)?.host === wanted)) || null;
}

/** Returns the page of a forge on which it creates credentials; null: there is none, or the host is not valid. */
export function credentialPage(kind: ForgeKind, host: string): string | null {
  const { credentialPath } = forgeKinds[kind];
  const address = addressOf(host);
  if (credentialPath === null || address === null) return null;
  const { origin, pathname } = address;
  return `${origin}${pathname.replace(/\/+$/, '')}${credentialPath}`;
}

/** Returns the host for a kind: the usual one, if the host before was empty or the usual one of the kind before. */
export function hostForKind(kind: ForgeKind, before: ForgeKind, host: string): string {
  const isOwn = host.trim() !== '' && host.trim() !== forgeKinds[before].defaultHost;
  return isOwn ? host : forgeKinds[kind].defaultHost;
}
