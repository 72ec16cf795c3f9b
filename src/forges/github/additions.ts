import type { ApiClient } from '../http/api-client.ts';
import { ForgeError } from '../interface/errors.ts';
import type { Additions, PullRequest } from '../interface/pull-requests.ts';
import { addNames, separateTeams } from '../support/add-names.ts';

/** Options of {@link extendPullRequest}. */
export interface ExtendOptions {
  readonly client: ApiClient;
  /** The path of the repository, `owner/name`. */
  readonly path: string;
  readonly permission: string;
}

/** `extend` of PullRequests for GitHub. */
export async function extendPullRequest(
  { client, path, permission }: ExtendOptions,
  { number, labels: present, reviewers: requested }: PullRequest,
  { labels = [], reviewers = [] }: Additions,
): Promise<string[]> {
  const warnings: string[] = [];
  const post = async (part: string, body: unknown, action: string) => {
    await client.send({ method: 'POST', path: `/repos/${path}/${part}`, body, action, permission });
    return null;
  };
  await addNames(warnings, {
    ...{ what: 'label', names: labels, present },
    add: (names) => post(`issues/${number}/labels`, { labels: names }, 'set the label'),
  });
  await addNames(warnings, {
    ...{ what: 'reviewer', names: reviewers, present: requested },
    async add(names) {
      const { logins, teams } = separateTeams(names);
      const body = { reviewers: logins, 'team_reviewers': teams.map((team) => slugOf(team, path)) };
      return await post(`pulls/${number}/requested_reviewers`, body, 'request the review');
    },
  });
  return warnings;
}

/** Returns the name of a team in the organization of the repository, which is the only one that can review. Throws REJECTED. */
export function slugOf(team: string, path: string): string {
  const [owner = ''] = path.split('/');
  const [organization = '', slug = '', ...more] = team.split('/');
  if (organization.toLowerCase() === owner.toLowerCase() && slug !== '' && more.length === 0) return slug;
  throw new ForgeError('REJECTED', `A team that reviews must be named ${owner}/team.`);
}
