import type { Context } from '../context.ts';

/** Time for which an answer is kept, in ms. */
const keptMs = 60_000;
const maxKept = 500;

/** The last answers of forges in this process, each for 60 seconds. */
export interface KeptAnswers<T> {
  /** Returns the kept answer of a key, or else asks for it. Errors are not kept. */
  find(context: Pick<Context, 'now'>, key: string, ask: () => Promise<T>): Promise<T>;
}

/** Creates {@link KeptAnswers}. The key of an answer has the connection with its version: a changed connection is asked again. */
export function keepAnswers<T>(): KeptAnswers<T> {
  const kept = new Map<string, { readonly until: number; readonly answer: Promise<T> }>();
  return {
    find(context, key, ask) {
      const now = context.now().getTime();
      const found = kept.get(key);
      if (found && found.until > now) return found.answer;
      const answer = ask();
      kept.delete(key);
      kept.set(key, { until: now + keptMs, answer });
      answer.catch(() => kept.delete(key));
      const [oldest] = kept.size > maxKept ? kept.keys() : [];
      if (oldest !== undefined) kept.delete(oldest);
      return answer;
    },
  };
}
