import { DomainError, refuse } from '../../common/errors.ts';
import { isForgeError } from '../../forges/interface/errors.ts';
import type { Forge } from '../../forges/interface/forge.ts';
import type { PullRequest, PullRequests } from '../../forges/interface/pull-requests.ts';
import type { Services } from '../context.ts';
import { openConnection } from '../git-connections/open-connection.ts';
import { parseReference } from '../repositories/parse-reference.ts';
import { usableRepository } from '../repositories/resolve-repositories.ts';

/** The session of a pull request. Ids are unprefixed. */
export interface PullRequestSession {
  readonly id: string;
  readonly organizationId: string;
}

/** A session's repository at its forge. */
export interface Target {
  readonly repositoryId: string;
  readonly gitConnectionId: string;
  readonly path: string;
  readonly branch: string;
  /** The branch or tag that the session started from; null: a commit, a pull request, or not cloned yet. */
  readonly baseRef: string | null;
  /** True if the organization may only read the repository. */
  readonly isReadOnly: boolean;
  /** True if this session may only read the repository. */
  readonly isSessionReadOnly: boolean;
  readonly forge: Forge;
  readonly pullRequests: PullRequests;
}

interface RepositoryRow {
  readonly repositoryId: string;
  readonly host: string;
  readonly path: string;
  readonly branch: string;
  readonly baseRef: string | null;
  readonly isReadOnly: boolean;
}

/**
 * Finds the repository of a session that a text names, or its only one, and opens its connection by the permissions of this moment.
 * Throws UNKNOWN_REFERENCE, INVALID_STATE, and ForgeError.
 */
export async function findTarget(
  services: Pick<Services, 'store' | 'keyring' | 'forges'>,
  { id, organizationId }: PullRequestSession,
  reference: string | null,
): Promise<Target> {
  const rows = await services.store.query<RepositoryRow>(
    `select r.repository_id as "repositoryId", r.host, r.path, r.branch, r.base_ref as "baseRef",
            r.is_read_only as "isReadOnly"
       from session_repository r where r.session_id = $1 order by r.position`,
    [id],
  );
  if (rows.length === 0) throw new DomainError('INVALID_STATE', 'The session has no repository.');
  const row = choose(rows, reference);
  const name = `${row.host}/${row.path}`;
  const usable = await usableRepository(services, organizationId, row.repositoryId);
  if (!usable) throw new DomainError('INVALID_STATE', `The organization may not use ${name} any longer.`);
  const forge = await openConnection(services, usable.connectionId);
  if (!forge.pullRequests) throw new DomainError('INVALID_STATE', `The server of ${name} has no pull requests.`);
  return {
    ...{ repositoryId: row.repositoryId, gitConnectionId: usable.connectionId, path: usable.path },
    ...{ branch: row.branch, baseRef: row.baseRef },
    ...{ isReadOnly: usable.isReadOnly, isSessionReadOnly: row.isReadOnly, forge, pullRequests: forge.pullRequests },
  };
}

/** Throws INVALID_STATE if the organization or the session may only read the repository. */
export function refuseReadOnly(target: Target): void {
  refuseReadOnlyOrganization(target);
  if (!target.isSessionReadOnly) return;
  const message = `This session may only read ${target.path}: it cannot write pull requests.`;
  throw new DomainError('INVALID_STATE', message);
}

/** Throws INVALID_STATE if the organization may only read the repository. */
export function refuseReadOnlyOrganization({ isReadOnly, path }: Target): void {
  if (!isReadOnly) return;
  throw new DomainError('INVALID_STATE', `The organization may only read ${path}: it cannot write pull requests.`);
}

/** A session's repository, and a pull request of its branch. */
export interface OwnPullRequest extends Target {
  readonly pullRequest: PullRequest;
}

/**
 * Finds a pull request of a session's branch at its forge: the one with this number, or the open one. Throws UNKNOWN_REFERENCE,
 * INVALID_STATE, and ForgeError. The forge is asked each time, since a session may report pull requests of others.
 */
export async function findOwn(
  services: Pick<Services, 'store' | 'keyring' | 'forges'>,
  session: PullRequestSession,
  { repository, number }: { readonly repository: string | null; readonly number: number | null },
): Promise<OwnPullRequest> {
  const target = await findTarget(services, session, repository);
  refuseReadOnly(target);
  const { pullRequests, path, branch } = target;
  const branchName = JSON.stringify(branch);
  if (number === null) {
    const found = await pullRequests.find(path, branch);
    if (found) return { ...target, pullRequest: found };
    throw new DomainError('INVALID_STATE', `The branch ${branchName} has no open pull request in ${path}.`);
  }
  const found = await pullRequests.get(path, number).catch((error: unknown) => {
    if (isForgeError(error, 'NOT_FOUND')) return null;
    throw error;
  });
  const isOwn = found?.headBranch === branch && found.headRepository?.toLowerCase() === path.toLowerCase();
  if (isOwn) return { ...target, pullRequest: found };
  const message = `"number" must be the number of a pull request of the session’s branch ${branchName} in ${path}.`;
  throw refuse(['number'], message, 'UNKNOWN_REFERENCE');
}

function choose(rows: readonly RepositoryRow[], reference: string | null): RepositoryRow {
  const [only, ...others] = rows;
  if (reference === null && only && others.length === 0) return only;
  const names = rows.map(({ host, path }) => `${host}/${path}`).join(', ');
  if (reference === null)
    throw refuse(['repository'], `"repository" must be one of the session’s repositories: ${names}.`);
  const wanted = parseReference(reference);
  const found = rows.find((row) =>
    wanted.some(
      ({ id, host, path }) =>
        id === row.repositoryId ||
        (path.toLowerCase() === row.path.toLowerCase() && (host === null || host.toLowerCase() === row.host)),
    ),
  );
  if (found) return found;
  throw refuse(
    ['repository'],
    `"repository" must be one of the session’s repositories: ${names}.`,
    'UNKNOWN_REFERENCE',
  );
}
