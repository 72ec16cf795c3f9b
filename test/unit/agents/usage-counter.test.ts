import { expect, it } from 'vitest';
import { createCounter, difference, type UsageUpdate } from '../../../src/domain/execution/metering/counter.ts';
import { validateUsage } from '../../../src/domain/execution/metering/validate-usage.ts';
import { acusOf } from '../../../src/domain/metering-rates.ts';

const usage = (input: Partial<UsageUpdate>): UsageUpdate => ({
  type: 'usage',
  source: 'update',
  llmCalls: null,
  inputTokens: null,
  outputTokens: null,
  cachedTokens: null,
  totalTokens: null,
  costUsd: null,
  contextUsed: null,
  contextSize: null,
  ...input,
});

it('counts the time of turns, but not between them or during a wait for the user', () => {
  let at = 1_000;
  const counter = createCounter(() => at);
  at += 5_000;
  expect(counter.total().activeMs).toBe(0);
  counter.start();
  at += 300;
  counter.start();
  at += 700;
  expect(counter.total().activeMs).toBe(1_000);
  counter.stop();
  counter.stop();
  at += 60_000;
  expect(counter.total().activeMs).toBe(1_000);
  counter.start();
  at += 250;
  expect(counter.total().activeMs).toBe(1_250);
});

it('sums the tokens of each turn, and derives the input from a total', () => {
  const counter = createCounter();
  counter.add(usage({ source: 'response', inputTokens: 100, outputTokens: 20, cachedTokens: 60 }));
  counter.add(usage({ source: 'response', totalTokens: 50, outputTokens: 10 }));
  counter.add(usage({ contextUsed: 5_000, contextSize: 100_000 }));
  expect(counter.total()).toMatchObject({ inputTokens: 140, outputTokens: 30, cachedTokens: 60, llmCalls: 0 });
  expect(counter.source()).toBe('response');
});

it('prefers the gateway to the agent, as soon as the gateway has counted', () => {
  const counter = createCounter();
  counter.add(usage({ source: 'gateway', llmCalls: 1, inputTokens: 1_200, outputTokens: 7 }));
  counter.add(usage({ source: 'gateway', llmCalls: 1, inputTokens: 1_300, outputTokens: 8 }));
  counter.add(usage({ source: 'response', inputTokens: 1_300, outputTokens: 8 }));
  expect(counter.total()).toMatchObject({ llmCalls: 2, inputTokens: 2_500, outputTokens: 15 });
  expect(counter.source()).toBe('gateway');
});

it('counts the increase of a total cost from the agent session’s start', () => {
  const counter = createCounter();
  counter.setAgentCostUsd(2);
  counter.add(usage({ costUsd: 2.5 }));
  counter.add(usage({ costUsd: 2.5 }));
  counter.add(usage({ costUsd: 3 }));
  expect(counter.total().costUsd).toBeCloseTo(1, 9);
  expect(counter.agentCostUsd()).toBe(3);
  // Another session of the agent starts at zero.
  counter.setAgentCostUsd(0);
  counter.add(usage({ costUsd: 0.25 }));
  expect(counter.total().costUsd).toBeCloseTo(1.25, 9);
});

it('never counts negative or impossible usage', () => {
  const counter = createCounter();
  counter.add(usage({ source: 'response', inputTokens: -5, outputTokens: Number.MAX_VALUE }));
  counter.add(usage({ costUsd: -1 }));
  counter.add(usage({ costUsd: 1e300 }));
  expect(counter.total()).toMatchObject({ inputTokens: 0, outputTokens: 1e9, costUsd: 10_000 });
});

it('ignores invalid values: no number, a negative, a fraction, above the maximum', () => {
  const fine = usage({ source: 'response', inputTokens: 3_000_000_000, outputTokens: 0, costUsd: 0.5 });
  expect(validateUsage(fine)).toEqual({ usage: fine, refused: [] });
  for (const wrong of [Number.NaN, Number.POSITIVE_INFINITY, -1, 0.5, 2 ** 53]) {
    const { usage: sound, refused } = validateUsage({ ...fine, totalTokens: wrong, contextUsed: wrong });
    expect(refused).toEqual(['totalTokens', 'contextUsed']);
    expect(sound).toEqual(fine);
  }
  for (const wrong of [Number.NaN, Number.POSITIVE_INFINITY, -0.01]) {
    const { usage: sound, refused } = validateUsage({ ...fine, costUsd: wrong });
    expect(refused).toEqual(['costUsd']);
    expect(sound).toEqual({ ...fine, costUsd: null });
  }
});

it('converts minutes and dollars to ACUs at the configured rates', () => {
  const counter = createCounter();
  const earlier = counter.total();
  counter.add(usage({ costUsd: 0.5 }));
  const used = { ...difference(counter.total(), earlier), activeMs: 30 * 60_000 };
  expect(acusOf(used, { minutesPerAcu: 15, acusPerUsd: 0, everyMs: 1 })).toBe(2);
  expect(acusOf(used, { minutesPerAcu: 15, acusPerUsd: 4, everyMs: 1 })).toBe(4);
});
