import { invalidInput } from '../../../common/errors.ts';
import type { Services } from '../../context.ts';
import { operandProblem, patternOf } from '../model/conditions.ts';
import type { Trigger } from '../model/definition.ts';
import { describePattern } from './match-events.ts';

/**
 * Compiles the patterns of an automation's conditions. Throws INVALID_INPUT at each invalid one, or at one that takes
 * too long; RATE_LIMITED if too many others wait.
 */
export async function requirePatterns(
  services: Services,
  organizationId: string,
  triggers: readonly Trigger[],
): Promise<void> {
  const found = triggers.flatMap(({ conditions }, trigger) =>
    (conditions?.any ?? []).flatMap(({ all }, n) =>
      all.flatMap((condition, m) => {
        const pattern = patternOf(condition);
        const path = ['triggers', trigger, 'conditions', 'any', n, 'all', m, 'value'].map(String);
        return pattern === null ? [] : [{ pattern, path, operator: condition.operator }];
      }),
    ),
  );
  const tests = found.map(({ pattern }) => ({ pattern, texts: [] }));
  const answer = await services.patterns.run(organizationId, tests);
  if ('slow' in answer) {
    const slow = answer.slow === null ? undefined : found[answer.slow];
    const message = slow
      ? `"value" takes too long to compile: ${describePattern(slow.pattern)}. Use a simpler pattern.`
      : 'The organization’s patterns took too long. Wait a minute and try again.';
    throw invalidInput([{ path: slow?.path ?? ['triggers'], message }]);
  }
  const issues = found
    .filter((_, n) => answer[n] === null)
    .map(({ path, operator }) => ({ path, message: operandProblem(operator) }));
  if (issues.length > 0) throw invalidInput(issues);
}
