import type { Context } from '../context.ts';
import { canonicalJson } from '../idempotency.ts';
import { inTurn } from '../turns.ts';
import type { AutomationRecord } from './automations.ts';
import { recurrencesOf, type Trigger, type TriggerRecurrence } from './definition.ts';
import { findNextTime, type NextTime } from './due-times.ts';
import { newCheckBudget } from './recurrence.ts';
import { checkZonedRecurrence, parseZonedRecurrence } from './zoned-recurrence.ts';

/**
 * Looks at the rules of triggers in turns, all of them within one budget: `refuse` makes an error of what is wrong with one.
 * `start`: where those begin that do not say so.
 */
export async function requireFiring(
  triggers: readonly Trigger[],
  { start, now }: { readonly start: Date; readonly now: Date },
  refuse: (complaint: string, recurrence: TriggerRecurrence) => Error,
): Promise<void> {
  const budget = newCheckBudget();
  for (const recurrence of recurrencesOf(triggers)) {
    const { zoned, complaint } = parseZonedRecurrence(recurrence.text, start, recurrence.timeZone);
    if (zoned === null) throw refuse(complaint, recurrence);
    const check = checkZonedRecurrence(zoned, now, budget);
    let step = await inTurn(() => check.next());
    while (!step.done) step = await inTurn(() => check.next());
    if (step.value !== null) throw refuse(step.value, recurrence);
  }
}

/** The next time of an automation as it is about to be written: found before the transaction that writes it. */
export interface TimePlan {
  /** What it holds for. */
  readonly of: string;
  readonly next: NextTime;
}

const keyOf = ({ id, enabled, triggers, options, createdAt }: AutomationRecord): string =>
  canonicalJson([id, enabled, triggers, options.jitterSeconds, createdAt]);

/** Finds the next time of an automation, in turns: rules may take long. */
export async function planTimes(context: Context, wanted: AutomationRecord): Promise<TimePlan> {
  return { of: keyOf(wanted), next: await findNextTime(wanted, context.now()) };
}

/** Another request has changed the automation since its times were found. */
class OverdueError extends Error {}

/** The time that was found for an automation. Where it is another one by now, what {@link withTimes} does is done again. */
export function plannedTime(plan: TimePlan, wanted: AutomationRecord): NextTime {
  if (plan.of !== keyOf(wanted)) throw new OverdueError();
  return plan.next;
}

/** Finds out what is wanted, and its times, then writes it: again whenever another request has come between the two. */
export async function withTimes<T>(
  context: Context,
  find: () => Promise<AutomationRecord>,
  write: (plan: TimePlan) => Promise<T>,
): Promise<T> {
  for (;;) {
    const plan = await planTimes(context, await find());
    try {
      return await write(plan);
    } catch (error) {
      if (!(error instanceof OverdueError)) throw error;
    }
  }
}
