import { createHash } from 'node:crypto';
import type { Services } from '../../context.ts';
import { canonicalJson } from '../../idempotency.ts';
import type { Pattern } from '../../patterns.ts';
import type { Trigger } from '../model/definition.ts';
import { type EventJson, matchesAny, patternTests } from './match-conditions.ts';

/** An automation and an event that it may match. */
export interface MatchCandidate {
  readonly organizationId: string;
  readonly automationId: string;
  /** Identifies the event within one {@link withEventMatcher}. */
  readonly eventId: string;
  /** The conditions of the triggers on events of this type. */
  readonly conditions: readonly Trigger['conditions'][];
  readonly event: EventJson;
}

/** True if the automation matches the event. An object: its patterns took too long; `slow` is the pattern, if known. */
export type MatchResult = boolean | { readonly slow: Pattern | null };

/** Returns match results within a transaction. */
export interface EventMatcher {
  /**
   * Returns the results in the order of the candidates, up to the first beyond `maxPatternCandidates` that depend on
   * patterns. Throws, for {@link withEventMatcher}, if patterns must be run first.
   */
  match(candidates: readonly MatchCandidate[], maxPatternCandidates?: number): MatchResult[];
}

class UndecidedError extends Error {
  readonly candidates: readonly MatchCandidate[];

  constructor(candidates: readonly MatchCandidate[]) {
    super('The patterns have to run first.');
    this.candidates = candidates;
  }
}

/**
 * Runs work that needs match results in its transaction. No transaction waits for patterns: work that needs some is
 * rolled back, the patterns are run, and the work is repeated with their results.
 */
export async function withEventMatcher<T>(services: Services, work: (matcher: EventMatcher) => Promise<T>): Promise<T> {
  const cachedResults = new Map<string, MatchResult>();
  const matcher: EventMatcher = {
    match(candidates, maxPatternCandidates = Number.POSITIVE_INFINITY) {
      const found: MatchResult[] = [];
      const undecided: MatchCandidate[] = [];
      let patternCandidates = 0;
      for (const candidate of candidates) {
        const atOnce = matchesAny(candidate.conditions, candidate.event);
        if (atOnce === null && ++patternCandidates > maxPatternCandidates) break;
        const result = atOnce ?? cachedResults.get(keyOf(candidate));
        if (result === undefined) undecided.push(candidate);
        else found.push(result);
      }
      if (undecided.length > 0) throw new UndecidedError(undecided);
      return found;
    },
  };
  for (;;) {
    try {
      return await work(matcher);
    } catch (error) {
      if (!(error instanceof UndecidedError)) throw error;
      for (const candidate of error.candidates)
        cachedResults.set(keyOf(candidate), await evaluate(services, candidate));
    }
  }
}

/** Creates the message on why an automation's run was skipped. */
export function slowMessage({ slow }: Exclude<MatchResult, boolean>): string {
  return slow === null
    ? 'The conditions are not met: the organization’s patterns took too long and are paused for a minute.'
    : `The conditions are not met: a pattern takes too long: ${describePattern(slow)}.`;
}

/** A pattern as JSON, cut after 80 characters. */
export function describePattern(pattern: Pattern): string {
  const json = JSON.stringify(pattern.kind === 'regex' ? pattern.source : pattern.globs);
  return json.length <= 80 ? json : `${json.slice(0, 80).toWellFormed()}…`;
}

// An automation may change between two attempts.
const keyOf = ({ automationId, eventId, conditions }: MatchCandidate): string =>
  createHash('sha256')
    .update(canonicalJson([automationId, eventId, conditions]))
    .digest('base64');

async function evaluate(
  services: Services,
  { organizationId, conditions, event }: MatchCandidate,
): Promise<MatchResult> {
  const tests = patternTests(conditions, event);
  const answer = await services.patterns.run(
    organizationId,
    tests.map(({ test }) => test),
  );
  if ('slow' in answer) return { slow: answer.slow === null ? null : (tests[answer.slow]?.test.pattern ?? null) };
  const results = new Map(tests.map(({ condition }, n) => [condition, answer[n] ?? false]));
  return matchesAny(conditions, event, (condition) => results.get(condition) ?? false) ?? false;
}
