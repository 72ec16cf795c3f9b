import type { CallCost, ProviderCredential, Reservation } from '../../credential.ts';
import { longCacheFactor } from '../call-cost.ts';
import { type CallUsage, modelInPath, operationIn } from '../providers.ts';
import { type DescribedCall, requireBounded, withoutHostedTools } from './call-rules.ts';
import { estimateInput } from './input-tokens.ts';
import { type Json, memberOf, objectOf, UnboundedCallError } from './members.ts';
import { outputOf, withLimit } from './output-limit.ts';

/** A call that may be made with a key that has a budget. */
export interface CallPlan {
  readonly model: string;
  readonly cost: CallCost;
  /** Returns the body to send. */
  body(reservation: Pick<Reservation, 'outputUsd'>): Buffer;
  /** Returns the usage of an answer, with the highest figures for those that are missing. */
  complete(usage: CallUsage, isComplete: boolean): CallUsage;
}

/** Prices of models at OpenRouter that the service does not know, in US dollars for a million tokens: higher than most. */
const [unknownInputUsd, unknownOutputUsd] = [15, 75];

/**
 * Reads a call and returns its highest cost; null: the price of its model is not known. Throws {@link UnboundedCallError} for a
 * call whose cost cannot be limited, and for a body that is not a JSON object.
 */
export function planCall(
  { provider, costOf }: Pick<ProviderCredential, 'provider' | 'costOf'>,
  api: DescribedCall['api'],
  path: string,
  text: Buffer,
): CallPlan | null {
  const parsed = parse(text);
  const operation = operationIn(path);
  const first = { api, provider, operation, body: parsed };
  requireBounded(first);
  const call = { ...first, body: withUsage({ ...first, body: withoutHostedTools(first) }) };
  const model = modelInPath(api, path) ?? memberOf(parsed, 'model');
  if (typeof model !== 'string' || model === '') throw new UnboundedCallError('a call must name its model');
  const priceOf = priceFor({ provider, costOf }, model);
  if (priceOf === null) return null;
  const body = stringify(call.body);
  const input = estimateInput(call.body, body.length);
  const output = outputOf(call);
  const cacheFactor = api === 'anthropic' && body.includes('"ttl":"1h"') ? longCacheFactor : 1;
  const inputUsd = priceOf(input.max, 0, 0);
  // Tokens that are written to the cache of the provider may cost more.
  const priceOfInput = (tokens: number) => Math.max(priceOf(tokens, 0, 0), priceOf(tokens, tokens, 0) * cacheFactor);
  const maxOutput = output.max * output.choices;
  const maxOutputUsd = Math.max(0, priceOf(input.max, 0, maxOutput) - inputUsd);
  const tokenUsd = maxOutput === 0 ? 0 : maxOutputUsd / maxOutput;
  const minOutputUsd = tokenUsd * output.min * output.choices;
  let sentOutput = maxOutput;
  return {
    model,
    cost: { maxInputUsd: priceOfInput(input.max), maxOutputUsd, inputUsd: priceOfInput(input.likely), minOutputUsd },
    body({ outputUsd }) {
      if (outputUsd === null || tokenUsd === 0 || outputUsd >= maxOutputUsd) return body;
      const limit = Math.max(output.min, Math.floor(outputUsd / tokenUsd / output.choices));
      sentOutput = limit * output.choices;
      return stringify(withLimit(call, output, limit));
    },
    complete(usage, isComplete) {
      const isOutputKnown = usage.outputTokens !== null && isComplete;
      return {
        ...usage,
        inputTokens: usage.inputTokens ?? input.max,
        outputTokens: isOutputKnown ? usage.outputTokens : Math.max(usage.outputTokens ?? 0, sentOutput),
      };
    },
  };
}

function parse(text: Buffer): Json {
  try {
    const body = objectOf(JSON.parse(text.toString('utf8')));
    if (body !== null) return body;
  } catch {
    // Not JSON, or too deep.
  }
  throw new UnboundedCallError('the body of a call must be a JSON object');
}

function stringify(body: Json): Buffer {
  try {
    return Buffer.from(JSON.stringify(body));
  } catch (cause) {
    throw new UnboundedCallError('the body of a call is too deep', { cause });
  }
}

// A stream of chat completions has its figures only if they are requested.
function withUsage({ api, provider, operation, body }: DescribedCall): Json {
  if (api !== 'openai' || !/^(chat\/)?completions$/.test(operation)) return body;
  const withCost = provider === 'openrouter' ? { ...body, usage: { include: true } } : body;
  const stream = memberOf(body, 'stream');
  if (stream === undefined || stream === false) return withCost;
  const options = objectOf(memberOf(body, 'stream_options')) ?? {};
  memberOf(options, 'include_usage');
  return { ...withCost, stream: true, 'stream_options': { ...options, 'include_usage': true } };
}

function priceFor({ provider, costOf }: Pick<ProviderCredential, 'provider' | 'costOf'>, model: string) {
  const find = (inputTokens: number, writtenTokens: number, outputTokens: number) => {
    const tokens = { inputTokens, cachedTokens: 0, writtenTokens, outputTokens };
    return costOf?.(model, tokens) ?? costOf?.('', tokens) ?? null;
  };
  if (find(1, 0, 1) === null && provider !== 'openrouter') return null;
  return (input: number, written: number, output: number) =>
    find(input, written, output) ?? (input * unknownInputUsd + output * unknownOutputUsd) / 1_000_000;
}
