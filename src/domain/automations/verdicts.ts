import { createHash } from 'node:crypto';
import type { Services } from '../context.ts';
import { canonicalJson } from '../idempotency.ts';
import type { Trigger } from './definition.ts';
import { type EventJson, matchesAny, patternTests } from './match-conditions.ts';
import type { Pattern } from './patterns.ts';

/** An automation and an event that it may want. */
export interface Look {
  readonly organizationId: string;
  readonly automationId: string;
  /** Tells events apart within one {@link withVerdicts}. */
  readonly eventId: string;
  /** The conditions of the triggers that are for events of this type. */
  readonly conditions: readonly Trigger['conditions'][];
  readonly event: EventJson;
}

/** True if the automation wants the event; otherwise its patterns took too long: `slow` is the pattern, where it is known. */
export type Verdict = boolean | { readonly slow: Pattern | null };

/** Gives verdicts inside of a transaction. */
export interface Verdicts {
  /**
   * The verdicts in the order of the looks, up to the first that is more than `maxPatternLooks` which depend on patterns. Throws,
   * for {@link withVerdicts}, where patterns must be run first.
   */
  find(looks: readonly Look[], maxPatternLooks?: number): Verdict[];
}

class UndecidedError extends Error {
  readonly looks: readonly Look[];

  constructor(looks: readonly Look[]) {
    super('Patterns must be run before this can be decided.');
    this.looks = looks;
  }
}

/**
 * Runs work that asks for verdicts in its transaction. No transaction waits for patterns: work that needs some is rolled back,
 * they are run, and it is done again with their results.
 */
export async function withVerdicts<T>(services: Services, work: (verdicts: Verdicts) => Promise<T>): Promise<T> {
  const known = new Map<string, Verdict>();
  const verdicts: Verdicts = {
    find(looks, maxPatternLooks = Number.POSITIVE_INFINITY) {
      const found: Verdict[] = [];
      const undecided: Look[] = [];
      let patternLooks = 0;
      for (const look of looks) {
        const atOnce = matchesAny(look.conditions, look.event);
        if (atOnce === null && ++patternLooks > maxPatternLooks) break;
        const verdict = atOnce ?? known.get(keyOf(look));
        if (verdict === undefined) undecided.push(look);
        else found.push(verdict);
      }
      if (undecided.length > 0) throw new UndecidedError(undecided);
      return found;
    },
  };
  for (;;) {
    try {
      return await work(verdicts);
    } catch (error) {
      if (!(error instanceof UndecidedError)) throw error;
      for (const look of error.looks) known.set(keyOf(look), await decide(services, look));
    }
  }
}

/** Says, for the run of an automation, why it was skipped. */
export function slowMessage({ slow }: Exclude<Verdict, boolean>): string {
  return slow === null
    ? 'The conditions do not hold: patterns of the organization took too long, and none is run for a minute.'
    : `The conditions do not hold: a pattern takes too long: ${describePattern(slow)}.`;
}

/** A pattern as JSON, cut after 80 characters. */
export function describePattern(pattern: Pattern): string {
  const json = JSON.stringify(pattern.kind === 'regex' ? pattern.source : pattern.globs);
  return json.length <= 80 ? json : `${json.slice(0, 80).toWellFormed()}…`;
}

// An automation may be changed between two attempts.
const keyOf = ({ automationId, eventId, conditions }: Look): string =>
  createHash('sha256')
    .update(canonicalJson([automationId, eventId, conditions]))
    .digest('base64');

async function decide(services: Services, { organizationId, conditions, event }: Look): Promise<Verdict> {
  const tests = patternTests(conditions, event);
  const answer = await services.patterns.run(
    organizationId,
    tests.map(({ test }) => test),
  );
  if ('slow' in answer) return { slow: answer.slow === null ? null : (tests[answer.slow]?.test.pattern ?? null) };
  const results = new Map(tests.map(({ condition }, n) => [condition, answer[n] ?? false]));
  return matchesAny(conditions, event, (condition) => results.get(condition) ?? false) ?? false;
}
