import { DomainError, notFound, refuse } from '../../common/errors.ts';
import { isForgeError } from '../../forges/interface/errors.ts';
import type { PullRequest, PullRequests } from '../../forges/interface/pull-requests.ts';
import type { Context } from '../context.ts';
import { openConnection } from '../git-connections/open-connection.ts';
import { asDomainError } from '../open-pull-requests/failures.ts';
import { resolveRepositories, type UsableRepository } from '../repositories/resolve-repositories.ts';
import { parsePullRequestUrl } from './pull-request-url.ts';

/** A pull request of a repository that an organization may use. */
export interface NamedPullRequest {
  readonly usable: UsableRepository;
  readonly number: number;
  readonly pullRequests: PullRequests;
}

/**
 * Finds the pull request that a URL names for an organization, without a request to its forge. The caller has checked the viewer. Throws
 * INVALID_INPUT, UNKNOWN_REFERENCE for a repository that the organization may not use, and INVALID_STATE for plain git.
 */
export async function findNamed(context: Context, organizationId: string, url: string): Promise<NamedPullRequest> {
  const where = ['pullRequestUrl'];
  const address = parsePullRequestUrl(url);
  if (!address) {
    const example = '"https://github.com/owner/name/pull/7"';
    throw refuse(where, `"pullRequestUrl" must be the URL of a pull request, such as ${example}.`);
  }
  const { repository, number } = address;
  const [usable] = await context.store.transact((tx) =>
    resolveRepositories(context, tx, organizationId, [repository], () => where),
  );
  if (!usable) throw notFound('repository');
  const { pullRequests } = await openConnection(context, usable.connectionId);
  if (pullRequests) return { usable, number, pullRequests };
  throw new DomainError('INVALID_STATE', `The server of ${usable.host}/${usable.path} has no pull requests.`);
}

/** Reads a pull request from its forge. Throws UNKNOWN_REFERENCE, and INVALID_STATE with the forge's reason. */
export async function readNamed({ usable, number, pullRequests }: NamedPullRequest): Promise<PullRequest> {
  const { host, path } = usable;
  return await asDomainError(() =>
    pullRequests.get(path, number).catch((error: unknown) => {
      if (!isForgeError(error, 'NOT_FOUND')) throw error;
      const message = `There is no pull request ${number} in ${host}/${path}.`;
      throw refuse(['pullRequestUrl'], message, 'UNKNOWN_REFERENCE');
    }),
  );
}
