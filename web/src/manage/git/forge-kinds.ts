import type { GitProviderType } from '../../__generated__/connectionFormCreateMutation.graphql.ts';
import { common } from '../../texts/common.ts';
import { forgeKinds as texts } from '../../texts/git-connections.ts';

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
    label: texts.githubApp,
    defaultHost: 'github.com',
    credentialPath: '/settings/apps/new',
    credentialLink: texts.githubAppLink,
    help: texts.githubAppHelp,
    webhookHelp: texts.githubAppWebhooks,
    members: { appId: true, installationId: false, privateKey: true, webhookSecret: false },
  },
  GITHUB_TOKEN: {
    label: texts.githubToken,
    defaultHost: 'github.com',
    credentialPath: '/settings/personal-access-tokens/new',
    credentialLink: texts.githubTokenLink,
    help: texts.githubTokenHelp,
    webhookHelp: texts.githubTokenWebhooks,
    members: { token: true, webhookSecret: false },
  },
  GITLAB_TOKEN: {
    label: texts.gitlab,
    defaultHost: 'gitlab.com',
    credentialPath: '/-/user_settings/personal_access_tokens',
    credentialLink: texts.gitlabLink,
    help: texts.gitlabHelp,
    webhookHelp: texts.gitlabWebhooks,
    members: { token: true, webhookSecret: false },
  },
  GITEA_TOKEN: {
    label: texts.giteaOrForgejo,
    defaultHost: '',
    credentialPath: '/user/settings/applications',
    credentialLink: texts.giteaLink,
    help: texts.giteaHelp,
    webhookHelp: texts.giteaWebhooks,
    members: { token: true, webhookSecret: false },
  },
  GIT_HTTPS: {
    label: texts.gitOverHttps,
    defaultHost: '',
    credentialPath: null,
    credentialLink: '',
    help: texts.httpsHelp,
    webhookHelp: null,
    members: { username: false, token: false },
  },
};

/** Returns true for a kind that this page knows. */
export const isForgeKind = (kind: GitProviderType): kind is ForgeKind => kind in forgeKinds;

/** The name of a kind for display. */
export const forgeKindLabel = (kind: GitProviderType): string =>
  isForgeKind(kind) ? forgeKinds[kind].label : common.other;

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
