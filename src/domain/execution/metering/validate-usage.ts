import type { UsageUpdate } from './counter.ts';

const counts = [
  'llmCalls',
  'inputTokens',
  'outputTokens',
  'cachedTokens',
  'totalTokens',
  'contextUsed',
  'contextSize',
] as const satisfies readonly (keyof UsageUpdate)[];

/**
 * What can be true of what an agent says that it used: whole numbers that are not negative, and a cost that is not. The rest
 * counts as not said; `refused` names it.
 */
export function validateUsage(update: UsageUpdate): {
  readonly usage: UsageUpdate;
  readonly refused: readonly string[];
} {
  const isValid = (name: (typeof counts)[number]) => {
    const value = update[name];
    return value === null || (Number.isSafeInteger(value) && value >= 0);
  };
  const { costUsd } = update;
  const isCostValid = costUsd === null || (Number.isFinite(costUsd) && costUsd >= 0);
  const refused = [...counts.filter((name) => !isValid(name)), ...(isCostValid ? [] : ['costUsd'])];
  if (refused.length === 0) return { usage: update, refused };
  return { usage: { ...update, ...Object.fromEntries(refused.map((name) => [name, null])) }, refused };
}
