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
 * Returns the plausible part of an agent's usage report: non-negative whole numbers, and a non-negative cost. `refused`
 * names the ignored fields.
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
