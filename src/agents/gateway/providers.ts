import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { ProviderGateway } from '../provider.ts';

/** The usage of one model call; null: not reported. */
export interface CallUsage {
  /** All input tokens, including those from the provider's cache. */
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cachedTokens: number | null;
  /** Input tokens that were written to the provider's cache, if there are any. */
  readonly writtenTokens?: number;
  /** The part of these that Anthropic keeps for an hour instead of five minutes. */
  readonly longWrittenTokens?: number;
  /** In US dollars, if the provider reports it, as OpenRouter does. */
  readonly costUsd?: number;
}

/**
 * The properties of one provider's API: its key header, the requests that an agent may make, and the location of usage
 * data.
 */
interface ProviderApi {
  keyHeader(key: string): OutgoingHttpHeaders;
  /** Paths of POST requests that count as model calls. */
  readonly calls: RegExp;
  /** Paths of POST requests that are free; null: none. */
  readonly counts: RegExp | null;
  /** Paths of allowed GET requests. All others (files, stored responses, settings) are for the key's owner only. */
  readonly questions: RegExp;
  /** Reads the usage from a response, or from one event of a stream. */
  readUsage(json: Json): CallUsage | null;
}

type Json = Readonly<Record<string, unknown>>;

/** Headers that may contain a key, in both directions. The agent's are never passed on. */
export const keyHeaders = ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key', 'cookie'] as const;

// Matches a complete, decoded path. Only the version may precede it; any other prefix belongs to `base_url`.
const pathPattern = (path: string) => new RegExp(String.raw`^(/v\d+(alpha|beta)?)?/${path}$`);
// Contains no separator, nothing that a server might decode again, and no name of dots only.
const name = String.raw`(?!\.+(/|$))[\w.:@+~-]+`;

/** By the name in a profile. */
export const providerApis = {
  // https://platform.openai.com/docs/api-reference: chat completions, and responses.
  openai: {
    keyHeader: (key) => ({ authorization: `Bearer ${key}` }),
    calls: pathPattern('(chat/completions|completions|responses|responses/compact|embeddings)'),
    counts: null,
    // Providers other than OpenAI have model names of two parts: `maker/model`.
    questions: pathPattern(`models(/${name}){0,2}`),
    readUsage(json) {
      const usage = object(json.usage) ?? object(object(json.response)?.usage);
      if (!usage) return null;
      const details = object(usage.prompt_tokens_details) ?? object(usage.input_tokens_details);
      return {
        inputTokens: count(usage.prompt_tokens) ?? count(usage.input_tokens),
        outputTokens: count(usage.completion_tokens) ?? count(usage.output_tokens),
        cachedTokens: count(details?.cached_tokens),
        ...(isAmount(usage.cost) && { costUsd: usage.cost }),
      };
    },
  },
  // https://docs.anthropic.com/en/api/messages: cached tokens are not part of `input_tokens`.
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
      const written = count(usage.cache_creation_input_tokens);
      const longWritten = count(object(usage.cache_creation)?.ephemeral_1h_input_tokens);
      return {
        inputTokens: input === null ? null : input + (cached ?? 0) + (written ?? 0),
        outputTokens: count(usage.output_tokens),
        cachedTokens: cached,
        ...(written ? { writtenTokens: written } : {}),
        ...(written && longWritten ? { longWrittenTokens: Math.min(longWritten, written) } : {}),
      };
    },
  },
  // https://ai.google.dev/api/generate-content: thoughts are not part of the candidates, and tool results are not part
  // of the prompt.
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

/** Classifies a request: not allowed, allowed, or a model call. `path` is as it was sent, without its query. */
export function kindOfRequest(api: ProviderGateway['api'], method: string, path: string): 'call' | 'question' | null {
  const { calls, counts, questions } = providerApis[api] as ProviderApi;
  const decoded = decode(path);
  if (decoded === null) return null;
  if (method === 'POST' && calls.test(decoded)) return 'call';
  const isQuestion = method === 'POST' ? counts?.test(decoded) : method === 'GET' && questions.test(decoded);
  return isQuestion ? 'question' : null;
}

/** Returns the end of the path of a call, such as `chat/completions`, `messages` or `generateContent`. */
export function operationIn(path: string): string {
  return /((chat|responses)\/)?\w+$/.exec(decode(path) ?? '')?.[0] ?? '';
}

// Null for a path that servers may interpret differently: an encoded separator counts as one for some of them only.
function decode(path: string): string | null {
  if (/%2f|%5c/i.test(path)) return null;
  try {
    return decodeURIComponent(path);
  } catch {
    return null;
  }
}

/** Returns the model that the path of a call names; null: its body names it. */
export function modelInPath(api: ProviderGateway['api'], path: string): string | null {
  return api === 'gemini' ? (/\/models\/([\w.-]+):/.exec(decode(path) ?? '')?.[1] ?? null) : null;
}

/** Every key in a request, in any of the locations that the programs of any provider use. */
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

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
