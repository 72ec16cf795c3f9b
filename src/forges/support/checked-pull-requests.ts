import { invalidResponse } from '../interface/errors.ts';
import type { PullRequests } from '../interface/pull-requests.ts';

/** Pull requests whose answers about another number than the requested one are refused with INVALID_RESPONSE. */
export function checkedPullRequests(pullRequests: PullRequests, host: string): PullRequests {
  const check = <T extends { readonly number: number } | null>(number: number, answer: T): T => {
    if (answer === null || answer.number === number) return answer;
    throw invalidResponse(host, 'it is about another pull request');
  };
  return {
    ...pullRequests,
    get: async (path, number) => check(number, await pullRequests.get(path, number)),
    update: async (path, number, change) => check(number, await pullRequests.update(path, number, change)),
    read: async (path, number, validator) => check(number, await pullRequests.read(path, number, validator)),
  };
}
