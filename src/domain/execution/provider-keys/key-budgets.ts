import { describeKey, type StoredKey } from '../../library/provider-keys/stored-key.ts';
import type { LimitReached } from '../metering/limits.ts';

/** An amount in dollars and cents; smaller amounts with two significant digits. */
const usd = (amount: number) => `$${amount > 0 && amount < 0.01 ? Number(amount.toPrecision(2)) : amount.toFixed(2)}`;

/**
 * Returns the budget of a key if it is reached; null: there is some left, or the key has none. `neededUsd`: the least that the
 * next call may cost.
 */
export function reachedBudget(key: StoredKey, neededUsd = 0): LimitReached | null {
  const { id, monthlyBudgetUsd: budget, spentThisMonthUsd: spent } = key;
  if (budget === null || spent === null || (spent < budget && spent + neededUsd <= budget)) return null;
  const state =
    spent < budget
      ? `has ${usd(budget - spent)} left of its budget of ${usd(budget)} for this month, and the next call may cost ${usd(neededUsd)}`
      : `has reached its budget of ${usd(budget)} for this month`;
  const message =
    `${capital(describeKey(key))} ${state}. To let the session go on, raise the budget in the console (Model keys): the session ` +
    'then continues by itself. To use another key, add it and send a message.';
  return { statusDetail: 'out_of_credits', message, providerKeyId: id, budgetUsd: budget, spentUsd: spent, neededUsd };
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
