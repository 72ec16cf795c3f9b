import type { Additions, PullRequest } from '../interface/pull-requests.ts';
import { addNames } from '../support/add-names.ts';
import { type ExtendOptions, requestReviewers } from '../support/request-reviewers.ts';

/** `extend` of PullRequests for GitHub. */
export async function extendPullRequest(
  { client, path, permission }: ExtendOptions,
  pullRequest: PullRequest,
  { labels = [], reviewers = [] }: Additions,
): Promise<string[]> {
  const warnings: string[] = [];
  const { number, labels: present } = pullRequest;
  await addNames(warnings, {
    ...{ what: 'label', names: labels, present },
    async add(names) {
      const part = `/repos/${path}/issues/${number}/labels`;
      await client.send({ method: 'POST', path: part, body: { labels: names }, action: 'set the label', permission });
      return null;
    },
  });
  await requestReviewers(warnings, { client, path, permission }, pullRequest, reviewers);
  return warnings;
}
