import type { LookupFunction } from 'node:net';
import { adviceToTest } from '../../../agents/git-gateway/connection-text.ts';
import type { PushRules } from '../../../agents/git-gateway/push-rules.ts';
import type {
  AddressRules,
  GatewayRepository,
  GitAccess,
  GitCredential,
  GitRefusal,
  RepositoryAccess,
} from '../../../agents/git-gateway/repositories.ts';
import { checkedLookup, isAllowedAddress, literalAddress } from '../../../common/addresses.ts';
import { isForgeError } from '../../../forges/interface/errors.ts';
import type { Context } from '../../context.ts';
import { openConnection } from '../../git-connections/open-connection.ts';
import { type UsableRepository, usableRepository } from '../../repositories/resolve-repositories.ts';
import type { SessionRepositoryRow } from './session-repositories.ts';

/** A session's repository with its address. */
export interface RunRepository {
  readonly row: SessionRepositoryRow;
  readonly cloneUrl: string;
}

/** Options of {@link createAccess}. */
export interface AccessOptions {
  readonly organizationId: string;
  readonly repositories: readonly RunRepository[];
  /** Called with each credential before it is used, so that it can be masked. */
  onCredential(credential: GitCredential): void;
}

/**
 * Answers the git gateway's questions by the permissions of this moment: a revoked permission and a deleted connection
 * take effect with the next request.
 */
export function createAccess(
  context: Context,
  options: AccessOptions,
): Omit<RepositoryAccess, 'onPush' | 'beforePush' | 'findRepository'> {
  const { organizationId, repositories, onCredential } = options;
  const gatewayRepositories = repositories.map(toGateway);
  const usableOf = (repository: GatewayRepository) => usableRepository(context, organizationId, repository.id);
  const rowOf = ({ id }: GatewayRepository) => repositories.find(({ row }) => row.repositoryId === id)?.row;
  return {
    repositories: () => gatewayRepositories,
    async credentialFor(repository: GatewayRepository, access: GitAccess) {
      let connection: string | undefined;
      try {
        const usable = await usableOf(repository);
        if (usable === null) return notPermitted(repository);
        connection = usable.connectionName;
        const forge = await openConnection(context, usable.connectionId);
        const { username, password } = await forge.credentialFor(usable.path, access);
        onCredential({ username, password });
        return { username, password, connection };
      } catch (error) {
        context.log.warn({ err: error, repository: nameOf(repository) }, 'A credential for git could not be read.');
        return unavailable(repository, connection, isForgeError(error) ? error.message : null);
      }
    },
    async rulesFor(repository: GatewayRepository): Promise<PushRules | GitRefusal> {
      try {
        const usable = await usableOf(repository);
        const row = rowOf(repository);
        if (usable === null || row === undefined) return notPermitted(repository);
        if (usable.isReadOnly || row.isReadOnly) return readOnly(repository, usable.isReadOnly);
        return rulesOf(row.branch, usable);
      } catch (error) {
        context.log.warn({ err: error, repository: nameOf(repository) }, 'The rules for a push could not be read.');
        return unavailable(repository);
      }
    },
  };
}

// An asterisk in the name of a branch is impossible, so the pattern is the name itself.
function rulesOf(branch: string, { defaultBranch, pushSettings: settings }: UsableRepository): PushRules {
  // The user who starts a session names its branch, but only an administrator allows pushes to the default branch.
  const isDefault = branch === defaultBranch;
  const note = `${branch} is the repository's default branch: an administrator can allow pushes to it.`;
  return {
    ...(isDefault ? { branches: [], note } : { branches: [branch] }),
    allowOtherBranches: settings.isPushToOtherBranchesAllowed,
    allowTags: settings.isPushOfTagsAllowed,
    allowDeletions: settings.isDeletionAllowed,
    pushOptions: [],
  };
}

/**
 * Allows connections to the hosts of these repositories, and to public addresses by https. Redirects and stores of LFS
 * objects are texts of the forge, which must not lead into the network of the service.
 */
export function addressRulesOf(repositories: readonly RunRepository[]): AddressRules {
  const urls = repositories.map(({ cloneUrl }) => new URL(cloneUrl));
  const own = new Set(urls.map(({ hostname }) => hostname));
  const origins = new Set(urls.map(({ origin }) => origin));
  const trusted = checkedLookup(true);
  const checked = checkedLookup(false);
  const lookup: LookupFunction = (hostname, options, callback) =>
    (own.has(hostname) ? trusted : checked)(hostname, options, callback);
  return {
    lookup,
    isAllowed(url) {
      if (origins.has(url.origin)) return true;
      const address = literalAddress(url.hostname);
      return (
        url.protocol === 'https:' && (own.has(url.hostname) || address === null || isAllowedAddress(address, false))
      );
    },
  };
}

function toGateway({ row, cloneUrl }: RunRepository): GatewayRepository {
  return { id: row.repositoryId, host: row.host, path: row.path, url: cloneUrl };
}

/** Returns host and path, as the log and texts for people name a repository. */
export function nameOf({ host, path }: { readonly host: string; readonly path: string }): string {
  return `${host}/${path}`;
}

function notPermitted(repository: GatewayRepository): GitRefusal {
  const message = `The organization of this session may not use ${nameOf(repository)} any longer.`;
  return { refused: 'NOT_PERMITTED', message };
}

function readOnly(repository: GatewayRepository, isByPermission: boolean): GitRefusal {
  const why = isByPermission ? "the organization's permission is read-only" : 'it was started to read it only';
  const message = `This session may read ${nameOf(repository)}, but not push to it: ${why}.`;
  return { refused: 'READ_ONLY', message };
}

/** A refusal with the reason of the forge, if it gave one. */
function unavailable(repository: GatewayRepository, connection?: string, reason: string | null = null): GitRefusal {
  const because = reason === null ? '' : ` ${reason}`;
  const advice = adviceToTest({ connection });
  const message = `Switchyard has no working credential for ${nameOf(repository)}.${because} ${advice}`;
  return { refused: 'UNAVAILABLE', message };
}
