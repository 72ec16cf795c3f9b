import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { ProviderGateway } from '../agent.ts';

/** What one call of a model used; null: not said. */
export interface CallUsage {
  /** All that was read, what came from the provider's cache with it. */
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cachedTokens: number | null;
}

/** How one maker's API takes its key, what of it an agent may call, and where it says what a call used. */
interface ProviderApi {
  keyHeader(key: string): OutgoingHttpHeaders;
  /** What is called with POST and counts as a call of the model. */
  readonly calls: RegExp;
  /** What is asked with POST and costs nothing; null: nothing. */
  readonly counts: RegExp | null;
  /** What is asked with GET. The rest (files, stored answers, settings) is the key owner's alone. */
  readonly questions: RegExp;
  /** From an answer, or one event of a stream. */
  readUsage(json: Json): CallUsage | null;
}

type Json = Readonly<Record<string, unknown>>;

/** The headers, on both ways, in which a key may stand. The agent's are never passed on. */
export const keyHeaders = ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key', 'cookie'] as const;

// A path whole, decoded. Before it may stand the version, and nothing else: what an address has beside that is in `base_url`.
const pathPattern = (path: string) => new RegExp(String.raw`^(/v\d+(alpha|beta)?)?/${path}$`);
// No separator, nothing that a server might decode once more, and no name that is only dots.
const name = String.raw`(?!\.+(/|$))[\w.:@+~-]+`;

/** By the word in a profile. */
export const providerApis = {
  // https://platform.openai.com/docs/api-reference: chat completions, and responses.
  openai: {
    keyHeader: (key) => ({ authorization: `Bearer ${key}` }),
    calls: pathPattern('(chat/completions|completions|responses|responses/compact|embeddings)'),
    counts: null,
    // Others than OpenAI have models of two names: `maker/model`.
    questions: pathPattern(`models(/${name}){0,2}`),
    readUsage(json) {
      const usage = object(json.usage) ?? object(object(json.response)?.usage);
      if (!usage) return null;
      const details = object(usage.prompt_tokens_details) ?? object(usage.input_tokens_details);
      return {
        inputTokens: count(usage.prompt_tokens) ?? count(usage.input_tokens),
        outputTokens: count(usage.completion_tokens) ?? count(usage.output_tokens),
        cachedTokens: count(details?.cached_tokens),
      };
    },
  },
  // https://docs.anthropic.com/en/api/messages: the cache is counted beside `input_tokens`.
  anthropic: {
    keyHeader: (key) => ({ 'x-api-key': key }),
    calls: pathPattern('messages'),
    counts: pathPattern('messages/count_tokens'),
    questions: pathPattern(`models(/${name})?`),
    readUsage(json) {
      const usage = object(json.usage) ?? object(object(json.message)?.usage);
      if (!usage) return null;
      const cached = count(usage.cache_read_input_tokens);
      const input = count(usage.input_tokens);
      const written = count(usage.cache_creation_input_tokens) ?? 0;
      return {
        inputTokens: input === null ? null : input + (cached ?? 0) + written,
        outputTokens: count(usage.output_tokens),
        cachedTokens: cached,
      };
    },
  },
  // https://ai.google.dev/api/generate-content: thoughts are counted beside the candidates, results of tools beside
  // the prompt.
  gemini: {
    keyHeader: (key) => ({ 'x-goog-api-key': key }),
    calls: pathPattern(
      String.raw`models/[\w.-]+:(generateContent|streamGenerateContent|embedContent|batchEmbedContents)`,
    ),
    counts: pathPattern(String.raw`models/[\w.-]+:countTokens`),
    questions: pathPattern(String.raw`models(/(?!\.+$)[\w.-]+)?`),
    readUsage(json) {
      const usage = object(json.usageMetadata) ?? object(object(json.response)?.usageMetadata);
      if (!usage) return null;
      const candidates = count(usage.candidatesTokenCount);
      const thoughts = count(usage.thoughtsTokenCount);
      const prompted = count(usage.promptTokenCount);
      const byTools = count(usage.toolUsePromptTokenCount);
      return {
        inputTokens: prompted === null && byTools === null ? null : (prompted ?? 0) + (byTools ?? 0),
        outputTokens: candidates === null && thoughts === null ? null : (candidates ?? 0) + (thoughts ?? 0),
        cachedTokens: count(usage.cachedContentTokenCount),
      };
    },
  },
} satisfies Record<ProviderGateway['api'], ProviderApi>;

/** Whether an agent may ask this, and whether it is a call of the model. `path` is as it was sent, without its query. */
export function kindOfRequest(api: ProviderGateway['api'], method: string, path: string): 'call' | 'question' | null {
  const { calls, counts, questions } = providerApis[api] as ProviderApi;
  const decoded = decode(path);
  if (decoded === null) return null;
  if (method === 'POST' && calls.test(decoded)) return 'call';
  const isQuestion = method === 'POST' ? counts?.test(decoded) : method === 'GET' && questions.test(decoded);
  return isQuestion ? 'question' : null;
}

// Null for what a server may understand in another way: an encoded separator is one to some, and none to others.
function decode(path: string): string | null {
  if (/%2f|%5c/i.test(path)) return null;
  try {
    return decodeURIComponent(path);
  } catch {
    return null;
  }
}

/** Every key that a request brings, wherever this maker's programs or others' put it. */
export function keysOf(headers: IncomingHttpHeaders, query: URLSearchParams): string[] {
  const headerValues = keyHeaders.map((name) => headers[name]);
  return [...headerValues, query.get('key')].flatMap((value) =>
    typeof value === 'string' ? [value.replace(/^Bearer /i, '')] : [],
  );
}

function object(value: unknown): Json | null {
  return typeof value === 'object' && value !== null ? (value as Json) : null;
}

function count(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
