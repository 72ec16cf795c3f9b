import { expect, it } from 'vitest';
import { pullRequestChips } from '../../../web/src/sessions/pull-request-chips.ts';

it('names the states of pull requests with their numbers, the open ones first', () => {
  const chips = (...states: string[]) => pullRequestChips(states.map((state) => ({ state }))).map(({ text }) => text);
  expect(chips()).toEqual([]);
  expect(chips('MERGED')).toEqual(['PR merged']);
  expect(chips('CLOSED', 'MERGED', 'OPEN', 'MERGED')).toEqual(['PR open', '2 PRs merged', 'PR closed']);
  // A newer service.
  expect(chips('IN_REVIEW')).toEqual(['PR in review']);
});
