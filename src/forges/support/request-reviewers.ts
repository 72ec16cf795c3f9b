import type { ApiClient } from '../http/api-client.ts';
import { ForgeError } from '../interface/errors.ts';
import type { PullRequest } from '../interface/pull-requests.ts';
import { addNames, separateTeams } from './add-names.ts';

/** A repository of GitHub or Gitea, with the client for its requests. */
export interface ExtendOptions {
  readonly client: ApiClient;
  /** The path of the repository, `owner/name`. */
  readonly path: string;
  readonly permission: string;
}

/**
 * Requests the reviews that a pull request lacks, by the API that GitHub and Gitea share. Adds a sentence to `warnings` for each
 * reviewer that was not added.
 */
export async function requestReviewers(
  warnings: string[],
  { client, path, permission }: ExtendOptions,
  { number, reviewers: present }: Pick<PullRequest, 'number' | 'reviewers'>,
  names: readonly string[],
): Promise<void> {
  await addNames(warnings, {
    ...{ what: 'reviewer', names, present },
    async add(some) {
      const { logins, teams } = separateTeams(some);
      const body = { reviewers: logins, 'team_reviewers': teams.map((team) => slugOf(team, path)) };
      const part = `/repos/${path}/pulls/${number}/requested_reviewers`;
      await client.send({ method: 'POST', path: part, body, action: 'request the review', permission });
      return null;
    },
  });
}

// A team of another organization cannot review.
function slugOf(team: string, path: string): string {
  const [owner = ''] = path.split('/');
  const [organization = '', slug = '', ...more] = team.split('/');
  if (organization.toLowerCase() === owner.toLowerCase() && slug !== '' && more.length === 0) return slug;
  throw new ForgeError('REJECTED', `A team that reviews must be named ${owner}/team.`);
}
