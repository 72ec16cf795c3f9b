import type { ForgeAccount } from './account.ts';
import type { Webhooks } from './events.ts';
import type { PullRequests } from './pull-requests.ts';

/** The kinds of connections. */
export const forgeKinds = ['github_app', 'github_token', 'gitlab_token', 'gitea_token', 'git_https'] as const;
/** See {@link forgeKinds}. */
export type ForgeKind = (typeof forgeKinds)[number];

/** The access that a credential for git has to a repository. */
export type GitAccess = 'read' | 'write';

/** The rights of an account in a repository. `write`: may push; `admin`: may also change its settings. */
export type RepositoryAccess = 'none' | 'read' | 'write' | 'admin';

/** A repository as a forge describes it. Names have no control characters, and refs are valid for git. */
export interface ForgeRepository {
  /** The full path without the host, as the forge spells it: `owner/name`, or `group/subgroup/name`. */
  readonly path: string;
  /** The forge's id, which stays when the repository is renamed; the path if the forge has none. */
  readonly providerId: string;
  readonly name: string;
  readonly description: string | null;
  readonly language: string | null;
  /** Null: unknown, or the repository is empty. */
  readonly defaultBranch: string | null;
  readonly isPrivate: boolean;
  readonly isArchived: boolean;
  /** True if the connection may push to the repository; null if the forge does not say. */
  readonly canPush: boolean | null;
  /** The address for git, without a credential. */
  readonly cloneUrl: string;
  readonly webUrl: string | null;
  readonly updatedAt: Date | null;
}

/** One page of repositories. */
export interface RepositoryPage {
  readonly repositories: readonly ForgeRepository[];
  /** The cursor of the next page; null at the end. */
  readonly next: string | null;
}

/** The page of repositories to read. */
export interface RepositoryQuery {
  /** Part of the name; all repositories if omitted. */
  readonly search?: string | undefined;
  /** `next` of the page before. */
  readonly cursor?: string | undefined;
  /** 1 to 100; 50 if omitted. */
  readonly limit?: number | undefined;
}

/** User name and password for git over HTTP. */
export interface GitCredential {
  readonly username: string;
  readonly password: string;
  /** Null: it stays valid until the connection changes. */
  readonly expiresAt: Date | null;
  /** True if the forge limits the credential to this repository. */
  readonly isLimitedToRepository: boolean;
}

/** The identity of the connection, for commits and to recognize its own comments. */
export interface ForgeIdentity extends ForgeAccount {
  readonly name: string;
  /** An address that the forge attributes to the account. */
  readonly email: string;
}

/** The purposes of permissions. */
export type ForgeAbility =
  | 'read_code'
  | 'push'
  | 'push_workflows'
  | 'pull_requests'
  | 'comments'
  | 'checks'
  | 'check_logs'
  | 'webhooks';

/** A permission of the connection. */
export interface AbilityReport {
  readonly ability: ForgeAbility;
  /** The permission in the words of the forge, such as `contents: write`. */
  readonly permission: string;
  /** Null: the forge does not say before the permission is used. */
  readonly isGranted: boolean | null;
  /** False: sessions work without it, with less. */
  readonly isRequired: boolean;
}

/** The result of a test of a connection. */
export interface ConnectionReport {
  /** Null for a connection without an account. */
  readonly identity: ForgeIdentity | null;
  readonly abilities: readonly AbilityReport[];
  /** The time when the credential expires; null: never, or unknown. */
  readonly expiresAt: Date | null;
  /** Sentences about what a person should change. */
  readonly warnings: readonly string[];
}

/** Options of a test. */
export interface TestOptions {
  /** The path of a repository to try. Needed for plain git, which has no other resource. */
  readonly repository?: string | undefined;
}

/**
 * An account at a forge. It knows neither tenants nor sessions. All methods reject with ForgeError and nothing else. All text
 * of the forge is bounded, and is data of a server that may be hostile.
 */
export interface Forge {
  readonly kind: ForgeKind;
  /** Host name, and the port if it is not the default: `github.com`, `git.example.com:3000`. */
  readonly host: string;
  /** Returns the address for git, without a credential. Rejects an invalid path with NOT_FOUND. */
  cloneUrl(path: string): string;
  /** Lists the repositories that the connection can read. */
  listRepositories(query?: RepositoryQuery): Promise<RepositoryPage>;
  getRepository(path: string): Promise<ForgeRepository>;
  /** Returns a credential for git, as short-lived and as limited as the forge allows. */
  credentialFor(path: string, access: GitAccess): Promise<GitCredential>;
  identity(): Promise<ForgeIdentity>;
  /**
   * Reads the rights that an account has in a repository; `none` for an unknown account. An answer may be 5 minutes old. Plain
   * git rejects with UNSUPPORTED.
   */
  accessOf(path: string, login: string): Promise<RepositoryAccess>;
  /** Reads the permissions of the connection. Changes nothing at the forge. */
  testConnection(options?: TestOptions): Promise<ConnectionReport>;
  /** Null: the forge has no pull requests. */
  readonly pullRequests: PullRequests | null;
  /** Null: the forge sends no webhooks. */
  readonly webhooks: Webhooks | null;
}
