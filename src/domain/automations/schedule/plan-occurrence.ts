import type { Context } from '../../context.ts';
import { canonicalJson } from '../../idempotency.ts';
import { inTurn } from '../../turns.ts';
import type { AutomationRecord } from '../model/automations.ts';
import { recurrencesOf, type Trigger, type TriggerRecurrence } from '../model/definition.ts';
import { newCheckBudget } from '../recurrence/recurrence.ts';
import { checkZonedRecurrence, parseZonedRecurrence } from '../recurrence/zoned-recurrence.ts';
import { findNextOccurrence, type NextOccurrence } from './due-times.ts';

/**
 * Looks at the rules of triggers in turns, all of them within one budget: `refuse` makes an error of what is wrong with one.
 * `start`: where those begin that do not say so.
 */
export async function requireValidRecurrences(
  triggers: readonly Trigger[],
  { start, now }: { readonly start: Date; readonly now: Date },
  refuse: (problem: string, recurrence: TriggerRecurrence) => Error,
): Promise<void> {
  const budget = newCheckBudget();
  for (const recurrence of recurrencesOf(triggers)) {
    const { zoned, problem } = parseZonedRecurrence(recurrence.text, start, recurrence.timeZone);
    if (zoned === null) throw refuse(problem, recurrence);
    const check = checkZonedRecurrence(zoned, now, budget);
    let step = await inTurn(() => check.next());
    while (!step.done) step = await inTurn(() => check.next());
    if (step.value !== null) throw refuse(step.value, recurrence);
  }
}

/** The next time of an automation as it is about to be written: found before the transaction that writes it. */
export interface OccurrencePlan {
  /** What it holds for. */
  readonly of: string;
  readonly next: NextOccurrence;
}

const keyOf = ({ id, enabled, triggers, options, createdAt }: AutomationRecord): string =>
  canonicalJson([id, enabled, triggers, options.jitterSeconds, createdAt]);

/** Finds the next time of an automation, in turns: rules may take long. */
export async function planNextOccurrence(context: Context, wanted: AutomationRecord): Promise<OccurrencePlan> {
  return { of: keyOf(wanted), next: await findNextOccurrence(wanted, context.now()) };
}

/** Another request has changed the automation since its times were found. */
class StalePlanError extends Error {}

/** The time that was found for an automation. Where it is another one by now, what {@link withOccurrencePlan} does is done again. */
export function plannedOccurrence(plan: OccurrencePlan, wanted: AutomationRecord): NextOccurrence {
  if (plan.of !== keyOf(wanted)) throw new StalePlanError();
  return plan.next;
}

/** Finds out what is wanted, and its times, then writes it: again whenever another request has come between the two. */
export async function withOccurrencePlan<T>(
  context: Context,
  find: () => Promise<AutomationRecord>,
  write: (plan: OccurrencePlan) => Promise<T>,
): Promise<T> {
  for (;;) {
    const plan = await planNextOccurrence(context, await find());
    try {
      return await write(plan);
    } catch (error) {
      if (!(error instanceof StalePlanError)) throw error;
    }
  }
}
