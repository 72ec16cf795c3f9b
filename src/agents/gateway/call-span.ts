import type { StartSpan } from '../../common/trace-span.ts';
import type { CallUpdate } from './call-meter.ts';

/** The span of one model call. */
export interface CallSpan {
  answered(status: number): void;
  used(usage: CallUpdate, model: string | null): void;
  /** Ends it. Without an answer, the call has failed. */
  end(): void;
}

/** Facts about a call that are known before it is sent. */
interface CallFacts {
  /** The host of the provider. */
  readonly host: string;
  readonly provider: string;
  /** The model that its path names. */
  readonly model: string | null;
}

/** The longest name of a model in a span: an agent may send any text. */
const maxModel = 100;

/** Starts the span of a model call; null: it is not recorded. */
export function startCallSpan(start: StartSpan | undefined, facts: CallFacts): CallSpan | null {
  const { host, provider } = facts;
  const model = facts.model?.slice(0, maxModel) ?? null;
  const attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': provider,
    'gen_ai.request.model': model ?? undefined,
    'server.address': host,
  };
  const span = start?.(model === null ? 'chat' : `chat ${model}`, { kind: 'client', attributes }) ?? null;
  if (span === null) return null;
  let answer: number | null = null;
  return {
    answered(status) {
      answer = status;
      span.set({ 'http.response.status_code': status });
    },
    used({ inputTokens, outputTokens, cachedTokens }, answered) {
      const name = answered?.slice(0, maxModel) ?? model;
      if (name !== null) span.rename(`chat ${name}`);
      span.set({
        'gen_ai.response.model': answered?.slice(0, maxModel),
        'gen_ai.usage.input_tokens': inputTokens ?? undefined,
        'gen_ai.usage.output_tokens': outputTokens ?? undefined,
        'gen_ai.usage.cache_read.input_tokens': cachedTokens ?? undefined,
      });
    },
    end() {
      if (answer === null) span.end('no_answer');
      else span.end(answer >= 400 ? String(answer) : undefined);
    },
  };
}
