import { z } from 'zod';
import type { ApiClient } from '../http/api-client.ts';
import { ForgeError } from '../interface/errors.ts';
import type { Additions, PullRequest } from '../interface/pull-requests.ts';
import { addNames } from '../support/add-names.ts';
import { type MergeRequest, mergeRequest } from './shapes.ts';

const userShape = z.object({ id: z.number().int(), username: z.string().max(255) });

/** `extend` of PullRequests for GitLab. `path`: of the merge request in the API. */
export async function extendMergeRequest(
  { client, path, permission }: { readonly client: ApiClient; readonly path: string; readonly permission: string },
  { labels: present, reviewers: requested }: PullRequest,
  { labels = [], reviewers = [] }: Additions,
): Promise<string[]> {
  const warnings: string[] = [];
  const put = async (body: unknown, action: string): Promise<MergeRequest> =>
    (await client.call(mergeRequest, { method: 'PUT', path, body, action, permission })).data;
  await addNames(warnings, {
    ...{ what: 'label', names: labels, present },
    async add(names) {
      if (names.some((name) => name.includes(','))) {
        throw new ForgeError('REJECTED', 'A label must not contain a comma, which separates labels in GitLab.');
      }
      return (await put({ 'add_labels': names.join(',') }, 'set the label')).labels ?? [];
    },
  });
  await addNames(warnings, {
    ...{ what: 'reviewer', names: reviewers, present: requested },
    async add(names) {
      const ids: number[] = [];
      for (const name of names) ids.push(await userId(client, name));
      const action = 'request the review';
      // The list replaces the reviewers that the merge request has.
      const { data } = await client.call(mergeRequest, { path, action, permission: 'read_api' });
      const earlier = (data.reviewers ?? []).map(({ id }) => id);
      const { reviewers: now } = await put({ 'reviewer_ids': [...new Set([...earlier, ...ids])] }, action);
      return (now ?? []).map(({ username }) => username);
    },
  });
  return warnings;
}

async function userId(client: ApiClient, name: string): Promise<number> {
  const call = { path: '/users', query: { username: name }, action: 'find the reviewer', permission: 'read_api' };
  const { data } = await client.call(userShape.array().max(100), call);
  const found = data.find(({ username }) => username.toLowerCase() === name.toLowerCase());
  if (found) return found.id;
  throw new ForgeError('NOT_FOUND', `${client.host} has no such user.`);
}
