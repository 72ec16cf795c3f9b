import { expect, it } from 'vitest';
import { costOfCall } from '../../../src/agents/gateway/call-cost.ts';
import { createModelReader } from '../../../src/agents/gateway/model-reader.ts';
import { providerApis } from '../../../src/agents/gateway/providers.ts';
import { createUsageReader } from '../../../src/agents/gateway/usage-reader.ts';
import { readCosts } from '../../../src/providers/prices.ts';

const usage = { inputTokens: 1_000_000, outputTokens: 1_000_000, cachedTokens: 0 };
const facts = { requestedModel: null, answeredModel: null, sentBytes: 0, receivedBytes: 0, isComplete: true };
const tokens = { inputTokens: 1_000_000, cachedTokens: 0, writtenTokens: 0, outputTokens: 0 };

it('costs as much as the owner of the key says, whatever the model', async () => {
  const costOf = await readCosts('compatible', { inputUsd: 2, cachedUsd: 0.5, outputUsd: 10 });
  expect(costOf('any', { ...tokens, cachedTokens: 400_000, outputTokens: 100_000 })).toBeCloseTo(1.2 + 0.2 + 1);
  // More cached tokens than input cannot make a call cheaper than free.
  expect(costOf('any', { ...tokens, inputTokens: 10, cachedTokens: 1_000_000 })).toBeCloseTo(10 * 0.5e-6);
});

it('knows published prices, and those of a compatible server only from its owner', async () => {
  const openai = await readCosts('openai', null);
  expect(openai('gpt-5', tokens)).toBeGreaterThan(0);
  expect(openai('gpt-5', { ...tokens, inputTokens: 1, cachedTokens: 5 })).toBeGreaterThanOrEqual(0);
  expect(openai('no-such-model', tokens)).toBeNull();
  const anthropic = await readCosts('anthropic', null);
  const written = anthropic('claude-sonnet-4-5', { ...tokens, writtenTokens: 1_000_000 }) ?? 0;
  expect(written).toBeGreaterThan(anthropic('claude-sonnet-4-5', tokens) ?? 0);
  expect((await readCosts('compatible', null))('gpt-5', tokens)).toBeNull();
});

it('counts what Anthropic keeps for an hour at twice the price of input', async () => {
  const reader = createUsageReader(false, providerApis.anthropic.readUsage);
  const cache = { cache_creation_input_tokens: 100_000, cache_creation: { ephemeral_1h_input_tokens: 100_000 } };
  reader.take(Buffer.from(JSON.stringify({ usage: { input_tokens: 0, output_tokens: 0, ...cache } })));
  const costOf = await readCosts('anthropic', null);
  const answered = { ...facts, answeredModel: 'claude-sonnet-4-5' };
  expect(costOfCall({ provider: 'anthropic', costOf }, reader.total(), answered)).toBeCloseTo((100_000 * 3 * 2) / 1e6);
});

it.each([
  ['a version of the requested one', 'cheap', 'cheap-2027', 1],
  ['another one, which an agent hid', 'cheap', 'expensive', 100],
  ['an unknown one', 'cheap', 'unknown', null],
  ['not stated', 'cheap', null, 1],
  ['nowhere', null, null, null],
])('takes the price of the model that the provider names: %s', (_, requestedModel, answeredModel, expected) => {
  const prices: Record<string, number> = { cheap: 1, expensive: 100 };
  const costOf = (model: string) => prices[model] ?? null;
  expect(costOfCall({ provider: 'openai', costOf }, usage, { ...facts, requestedModel, answeredModel })).toBe(expected);
});

it('estimates what an agent hides by leaving before the figures come', async () => {
  const costOf = await readCosts('compatible', { inputUsd: 1, cachedUsd: null, outputUsd: 1 });
  const cut = { ...facts, sentBytes: 4_000_000, receivedBytes: 100_000_000, isComplete: false };
  const none = { inputTokens: null, outputTokens: null, cachedTokens: null };
  expect(costOfCall({ provider: 'compatible', costOf }, none, cut)).toBe(2);
  expect(costOfCall({ provider: 'compatible', costOf }, { ...none, inputTokens: 1, outputTokens: 1 }, cut)).toBe(2);
});

it('believes the cost that OpenRouter reports, and no other server', () => {
  const costOf = () => 7;
  const reported = { ...usage, costUsd: 0.25 };
  const answered = { ...facts, answeredModel: 'm' };
  expect(costOfCall({ provider: 'openrouter', costOf }, reported, answered)).toBe(0.25);
  expect(costOfCall({ provider: 'compatible', costOf }, reported, answered)).toBe(7);
});

it.each([
  [{ usage: { prompt_tokens: -5, completion_tokens: 1e300, cost: -3 } }, [null, null, null]],
  [{ usage: { prompt_tokens: '7', completion_tokens: 2, cost: 'free' } }, [null, 2, null]],
  [{ usage: { prompt_tokens: 3, completion_tokens: 2, cost: 0.5 } }, [3, 2, 0.5]],
])('reads no implausible figures: %j', (body, expected) => {
  const reader = createUsageReader(false, providerApis.openai.readUsage);
  reader.take(Buffer.from(JSON.stringify(body)));
  const { inputTokens, outputTokens, costUsd } = reader.total();
  expect([inputTokens, outputTokens, costUsd ?? null]).toEqual(expected);
});

it.each([
  ['{"model":"gpt-x","usage":{"prompt_tokens":1}}', false],
  [
    'data: {"type":"response.created","response":{"id":"r","model":"gpt-x"}}\n\ndata: {"response":{"model":"other"}}\n\n',
    true,
  ],
  ['data: {"choices":[{"delta":{"content":"\\"model\\":\\"fake\\""}}],"model":"gpt-x"}\n\n', true],
  ['{"candidates":[{"model":"fake"}],"modelVersion":"gpt-x"}', false],
])('reads the model of a response: %s', (text, isStream) => {
  const reader = createUsageReader(isStream, providerApis.openai.readUsage);
  reader.take(Buffer.from(text));
  expect(reader.model()).toBe('gpt-x');
});

it.each([
  ['{"model":"known","messages":[{"model":"x"}]}', ['known']],
  ['{"messages":["model",{"model":"x"}],"model":"known","model":"other"}', ['known']],
  ['{"message":{"model":"known"}}', []],
  ['{"model":5}', []],
  ['not JSON', []],
])('passes on the body of a call and reads its model: %s', async (body, expected) => {
  const models: string[] = [];
  const reader = createModelReader((model) => models.push(model));
  const chunks: Buffer[] = [];
  reader.on('data', (chunk: Buffer) => chunks.push(chunk));
  for (let at = 0; at < body.length; at += 3) reader.write(body.slice(at, at + 3));
  await new Promise<void>((resolve) => reader.end(resolve));
  expect([models, Buffer.concat(chunks).toString('utf8')]).toEqual([expected, body]);
});
