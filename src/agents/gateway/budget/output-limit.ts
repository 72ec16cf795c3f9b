import { choicesOf, configOf, type DescribedCall } from './call-rules.ts';
import { countOf, type Json, memberOf, objectOf, spelledName } from './members.ts';

/** The output of a call, in tokens. */
export interface OutputTokens {
  /** Of one answer, with its thoughts. */
  readonly max: number;
  /** Less is of no use to an agent, or refused by the provider. */
  readonly min: number;
  readonly choices: number;
  /** False if the call states no limit. */
  readonly isStated: boolean;
}

/** Tokens of an answer without a stated limit: the longest that the present models of the providers write. */
const defaultMaxTokens = 128_000;
/** The lowest limit that the gateway sets. */
const minTokens = 1_024;
/** The highest limit that the gateway sets where a call states none: models refuse more than they can write. */
const maxSetTokens = 16_384;

/** Reads the output that a call may have. */
export function outputOf(call: DescribedCall): OutputTokens {
  const { api, operation, body } = call;
  if (/^embed|^batchEmbed/.test(operation)) return { max: 0, min: 0, choices: 1, isStated: true };
  const choices = choicesOf(call);
  const stated = statedLimit(call);
  const max = stated ?? defaultMaxTokens;
  const thoughts =
    api === 'anthropic' ? (countOf(objectOf(memberOf(body, 'thinking')) ?? {}, 'budget_tokens') ?? 0) : 0;
  // Anthropic refuses a limit that leaves nothing after the thoughts.
  const minAfterThoughts = thoughts > 0 && thoughts < max ? thoughts + 1 : 0;
  return { max, min: Math.min(max, Math.max(minTokens, minAfterThoughts)), choices, isStated: stated !== null };
}

const chatLimits = ['max_tokens', 'max_completion_tokens'] as const;

// Compatible servers may know the older name only.
function statedLimit({ api, provider, operation, body }: DescribedCall): number | null {
  if (api === 'gemini') return countOf(configOf(body), 'maxOutputTokens', 'max_output_tokens');
  if (api === 'anthropic') return countOf(body, 'max_tokens');
  if (operation.startsWith('responses')) return countOf(body, 'max_output_tokens');
  const [older, newer] = chatLimits.map((name) => countOf(body, name));
  const known = provider === 'openai' ? [older, newer] : [older];
  const limits = known.filter((each) => typeof each === 'number');
  return limits.length === 0 ? null : Math.max(...limits, newer ?? 0);
}

/** Returns the body of a call with a lower limit of the output, in tokens of one answer. */
export function withLimit(call: DescribedCall, output: OutputTokens, limit: number): Json {
  const { api, provider, operation, body } = call;
  const tokens = Math.max(output.min, Math.min(limit, output.isStated ? output.max : maxSetTokens));
  if (api === 'gemini') {
    const config = configOf(body);
    const name = spelledName(body, 'generationConfig', 'generation_config') ?? 'generationConfig';
    const limitName = spelledName(config, 'maxOutputTokens', 'max_output_tokens') ?? 'maxOutputTokens';
    return { ...body, [name]: { ...config, [limitName]: tokens } };
  }
  if (api === 'anthropic') return { ...body, 'max_tokens': tokens };
  if (operation.startsWith('responses')) return { ...body, 'max_output_tokens': tokens };
  const present = chatLimits.filter((name) => Object.hasOwn(body, name));
  const isNewer = provider === 'openai' && operation === 'chat/completions';
  const names = output.isStated || provider === 'openai' ? present : [...new Set([...present, 'max_tokens'])];
  const set = names.length > 0 ? names : [isNewer ? 'max_completion_tokens' : 'max_tokens'];
  return { ...body, ...Object.fromEntries(set.map((name) => [name, tokens])) };
}
