import type { ForgeServices } from '../http/services.ts';
import { ForgeError, isForgeError } from '../interface/errors.ts';
import type { AbilityReport, Forge, ForgeIdentity, ForgeRepository } from '../interface/forge.ts';
import { type ForgeAddress, type ForgeConnection, requireSecret } from '../support/connection.ts';
import { requirePath } from '../support/paths.ts';
import { type AdvertisedRefs, readInfoRefs } from './info-refs.ts';

/** A connection to a git server. */
export type GitConnection = Extract<ForgeConnection, { readonly kind: 'git_https' }>;

/** Opens a server with nothing but git over HTTP: it has no list of repositories, pull requests or webhooks. */
export function openGitHttps(
  connection: GitConnection,
  { host, baseUrl }: ForgeAddress,
  { http, now }: ForgeServices,
): Forge {
  const username = connection.username === null ? null : requireSecret(connection.username, 'user name');
  const password = connection.password === null ? null : requireSecret(connection.password, 'password');
  if (username?.includes(':')) throw new ForgeError('INVALID_CONNECTION', 'The user name must not contain a colon.');
  const isAnonymous = password === null;
  const basic = Buffer.from(`${username ?? 'git'}:${password ?? ''}`).toString('base64');
  const cloneUrl = (path: string) => `${baseUrl}/${requirePath(path, host)}.git`;

  async function read(path: string, service: 'git-upload-pack' | 'git-receive-pack'): Promise<AdvertisedRefs> {
    const permission = service === 'git-upload-pack' ? 'read' : 'write';
    const action = `${permission} the repository ${requirePath(path, host)}`;
    const context = { host, action, permission, mask: (text: string) => text, now };
    const authorization = isAnonymous ? null : `Basic ${basic}`;
    return await readInfoRefs({ http, cloneUrl: cloneUrl(path), service, authorization, context });
  }

  const identity: ForgeIdentity = {
    id: username ?? 'anonymous',
    login: username ?? 'anonymous',
    name: username ?? 'Switchyard',
    // The server does not tell.
    isBot: false,
    email: `${(username ?? 'switchyard').replaceAll(/[^\w.+-]/g, '-')}@${host.replace(/:\d+$/, '').replaceAll(/[[\]]/g, '')}`,
  };

  async function tryAccess(path: string, service: 'git-upload-pack' | 'git-receive-pack'): Promise<boolean> {
    try {
      await read(path, service);
      return true;
    } catch (error) {
      if (isForgeError(error, 'MISSING_PERMISSION', 'NOT_FOUND', 'CREDENTIAL_REFUSED')) return false;
      throw error;
    }
  }

  return {
    kind: 'git_https',
    host,
    cloneUrl,
    async listRepositories() {
      throw new ForgeError(
        'UNSUPPORTED',
        `A git server cannot list its repositories. Enter the path of a repository of ${host}.`,
      );
    },
    async getRepository(path): Promise<ForgeRepository> {
      const clean = requirePath(path, host);
      const { defaultBranch } = await read(clean, 'git-upload-pack');
      return {
        path: clean,
        providerId: clean,
        name: clean.split('/').at(-1) ?? clean,
        description: null,
        language: null,
        defaultBranch,
        isPrivate: !isAnonymous,
        isArchived: false,
        canPush: isAnonymous ? false : null,
        cloneUrl: cloneUrl(clean),
        webUrl: null,
        updatedAt: null,
      };
    },
    async credentialFor(path, access) {
      requirePath(path, host);
      if (isAnonymous && access === 'write') {
        throw new ForgeError(
          'MISSING_PERMISSION',
          `The connection to ${host} has no credential, so it can only read.`,
          {
            permission: 'write',
          },
        );
      }
      return { username: username ?? 'git', password: password ?? '', expiresAt: null, isLimitedToRepository: false };
    },
    identity: async () => identity,
    async accessOf() {
      throw new ForgeError('UNSUPPORTED', `The git server ${host} does not tell who may push to a repository.`);
    },
    async testConnection({ repository } = {}) {
      const report = (
        ability: AbilityReport['ability'],
        permission: string,
        isGranted: boolean | null,
      ): AbilityReport => {
        return { ability, permission, isGranted, isRequired: true };
      };
      if (repository === undefined) {
        throw new ForgeError(
          'UNSUPPORTED',
          'A git server can be tested with a repository only. Enter the path of one.',
        );
      }
      await read(repository, 'git-upload-pack');
      const canPush = !isAnonymous && (await tryAccess(repository, 'git-receive-pack'));
      return {
        identity,
        abilities: [report('read_code', 'read', true), report('push', 'write', canPush)],
        expiresAt: null,
        warnings: [],
      };
    },
    pullRequests: null,
    webhooks: null,
  };
}
