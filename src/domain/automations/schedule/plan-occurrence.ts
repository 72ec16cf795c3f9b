import type { Context } from '../../context.ts';
import { canonicalJson } from '../../idempotency.ts';
import { inTurn } from '../../turns.ts';
import type { AutomationRecord } from '../model/automations.ts';
import { recurrencesOf, type Trigger, type TriggerRecurrence } from '../model/definition.ts';
import { newCheckBudget } from '../recurrence/recurrence.ts';
import { checkZonedRecurrence, parseZonedRecurrence } from '../recurrence/zoned-recurrence.ts';
import { findNextOccurrence, type NextOccurrence } from './due-times.ts';

/**
 * Checks the rules of triggers over several turns of the event loop, all within one budget: `refuse` creates the error
 * for a problem. `start`: the start of rules without one.
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

/** The next occurrence of an automation that is about to be written, computed before the transaction that writes it. */
export interface OccurrencePlan {
  /** Key of the values that it was computed for. */
  readonly of: string;
  readonly next: NextOccurrence;
}

const keyOf = ({ id, enabled, triggers, options, createdAt }: AutomationRecord): string =>
  canonicalJson([id, enabled, triggers, options.jitterSeconds, createdAt]);

/** Computes the next occurrence of an automation over several turns of the event loop, since rules may be expensive. */
export async function planNextOccurrence(context: Context, wanted: AutomationRecord): Promise<OccurrencePlan> {
  return { of: keyOf(wanted), next: await findNextOccurrence(wanted, context.now()) };
}

/** Another request has changed the automation since its times were found. */
class StalePlanError extends Error {}

/**
 * Returns the planned occurrence of an automation. If the automation has changed since, {@link withOccurrencePlan}
 * repeats its work.
 */
export function plannedOccurrence(plan: OccurrencePlan, wanted: AutomationRecord): NextOccurrence {
  if (plan.of !== keyOf(wanted)) throw new StalePlanError();
  return plan.next;
}

/**
 * Determines the wanted automation and its next occurrence, then writes it. Repeats both if another request has changed
 * the automation in between.
 */
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
