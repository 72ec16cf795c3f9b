import { expect, it } from 'vitest';
import {
  type StoredOption,
  toSessionOptions,
  withChoices,
  withOffer,
  withOutcome,
} from '../../../src/domain/sessions/options/stored-options.ts';

const choice = (value: string) => ({ optionId: 'model', value });
const chosen = withChoices([], [choice('a')]);
const shown = (options: readonly StoredOption[]) =>
  toSessionOptions(options).map(({ value, isPending }) => `${value}${isPending ? ' pending' : ''}`);
const offerOf = (currentValue: string) => ({
  options: [
    { id: 'model', name: 'Model', description: null, category: null, currentValue, values: [], hasMoreValues: false },
  ],
  hasMoreOptions: false,
});

it('is pending until the agent has accepted it', () => {
  expect(shown(chosen)).toEqual(['a pending']);
  const applied = withOffer(withOutcome(chosen, choice('a'), true), offerOf('a'));
  expect(shown(applied)).toEqual(['a']);
  expect(withChoices(applied, [choice('a')])).toBe(applied);
  expect(shown(withOffer(applied, offerOf('b')))).toEqual(['b']);
});

it('returns to the value before a refused one', () => {
  const applied = withOffer(withOutcome(chosen, choice('a'), true), offerOf('a'));
  const refused = withOutcome(withChoices(applied, [choice('b')]), choice('b'), false);
  expect(refused).toEqual(applied);
  // Refused by the agent's next process: the default counts.
  expect(withOutcome(applied, choice('a'), false)).toMatchObject([{ chosen: null, applied: null }]);
});

it('keeps a choice that is made while another one is being set', () => {
  const later = withChoices(chosen, [choice('b')]);
  expect(shown(withOutcome(later, choice('a'), true))).toEqual(['b pending']);
  expect(shown(withOutcome(later, choice('a'), false))).toEqual(['b pending']);
  // Back to the first one, while the second is being set.
  const applied = withOutcome(chosen, choice('a'), true);
  const back = withChoices(withChoices(applied, [choice('b')]), [choice('a')]);
  expect(shown(withOutcome(back, choice('b'), true))).toEqual(['a pending']);
});

it('forgets options that the agent no longer offers, except choices', () => {
  const stored = withOffer(withChoices([], [{ optionId: 'effort', value: 'high' }]), offerOf('a'));
  expect(stored.map(({ id }) => id)).toEqual(['model', 'effort']);
  expect(withOffer(stored, { options: [], hasMoreOptions: false }).map(({ id }) => id)).toEqual(['effort']);
});
