import { z } from 'zod';
import { ForgeError, isForgeError } from '../interface/errors.ts';
import type { Additions, PullRequest } from '../interface/pull-requests.ts';
import { addNames } from '../support/add-names.ts';
import { type ExtendOptions, requestReviewers } from '../support/request-reviewers.ts';
import { nameText } from '../support/text.ts';

const labelShape = z.object({ id: z.number().int(), name: nameText(100) });
type Label = z.output<typeof labelShape>;
const maxLabels = 1_000;

/** `extend` of PullRequests for Gitea. Labels are those of the repository and of its organization. */
export async function extendPullRequest(
  { client, path, permission }: ExtendOptions,
  pullRequest: PullRequest,
  { labels = [], reviewers = [] }: Additions,
): Promise<string[]> {
  const warnings: string[] = [];
  const { number, labels: present } = pullRequest;
  const listLabels = async (of: string, scope: string): Promise<readonly Label[]> => {
    const call = { path: `${of}/labels`, action: 'read the labels', permission: scope };
    return (await client.list(labelShape, { ...call, size: 50, sizeName: 'limit', max: maxLabels })).items;
  };
  // Read once, also if the labels are added one by one.
  let known: Promise<readonly Label[]> | null = null;
  const [owner] = path.split('/');
  const readLabels = async () => [
    ...(await listLabels(`/repos/${path}`, 'read:issue')),
    // A user has no labels, and the token may lack the scope for organizations.
    ...(await listLabels(`/orgs/${owner}`, 'read:organization').catch((error: unknown) => {
      if (isForgeError(error, 'NOT_FOUND', 'MISSING_PERMISSION')) return [];
      throw error;
    })),
  ];
  await addNames(warnings, {
    ...{ what: 'label', names: labels, present },
    async add(names) {
      known ??= readLabels();
      const all = await known;
      const ids = names.map((name) => idOf(name, all, path));
      const part = `/repos/${path}/issues/${number}/labels`;
      const call = { method: 'POST', path: part, action: 'set the label', permission: 'write:issue' } as const;
      await client.send({ ...call, body: { labels: ids } });
      return null;
    },
  });
  await requestReviewers(warnings, { client, path, permission }, pullRequest, reviewers);
  return warnings;
}

function idOf(name: string, labels: readonly Label[], path: string): number {
  const found =
    labels.find((label) => label.name === name) ??
    labels.find((label) => label.name.toLowerCase() === name.toLowerCase());
  if (found) return found.id;
  throw new ForgeError('NOT_FOUND', `${path} has no such label.`);
}
