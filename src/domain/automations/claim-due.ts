import type { Transaction } from '../../store/store.ts';
import type { Services } from '../context.ts';
import { canonicalJson } from '../idempotency.ts';
import { type DueQuestion, type DueTime, dueTimeAtOnce, findDueTime } from './due-times.ts';
import { recurringEvent } from './event-types.ts';
import { fireLocked, noteCrash } from './fire.ts';
import { type Firing, lockForFiring } from './firing.ts';
import { disableAutomation } from './note-outcome.ts';
import { findRun } from './run-rows.ts';

/** So many are claimed at once; all of them in one transaction. */
const batchSize = 10;

const isDue = 'a.is_enabled and a.deleted_at is null and a.due_at';

/**
 * Fires the automations that are due, the longest waiting first, until there are no more; gives how many. The claim, the
 * session and the next time are one transaction, so that whatever dies, each time fires once. May run in several processes,
 * and several times in one: what another has claimed is passed over.
 */
export async function fireDueAutomations(services: Services, isStopping: () => boolean): Promise<number> {
  const planned: Planned = new Map();
  for (let count = 0; ; ) {
    if (isStopping()) return count;
    const { fired, dear } = await fireBatch(services, planned);
    count += fired;
    if (fired === 0 && dear.length === 0) return count;
    // What takes long to find is found while nothing is locked; then it is claimed again.
    for (const question of dear) {
      if (isStopping()) return count;
      planned.set(question.automation.id, { of: keyOfQuestion(question), due: await findDueTime(question) });
    }
  }
}

/** What was found outside of a transaction for automations that could not be answered inside, by their ids. */
type Planned = Map<string, { readonly of: string; readonly due: DueTime | null }>;

// What has been changed since is asked anew; that some time went by is no change.
const keyOfQuestion = ({ automation: { triggers, options, nextRunAt, dueAt }, isRetry }: DueQuestion): string =>
  canonicalJson([triggers, options.missedRuns, options.jitterSeconds, nextRunAt, dueAt, isRetry]);

/** When the next automation is due; null: none is. It may be over already, where another process has claimed it. */
export async function nextDueAt(services: Services): Promise<Date | null> {
  const [next] = await services.store.query<{ dueAt: Date }>(
    `select a.due_at as "dueAt" from automation a where ${isDue} is not null order by a.due_at limit 1`,
  );
  return next?.dueAt ?? null;
}

interface Fired {
  readonly fired: number;
  /** Claimed, and left as they are: their times take long to find. */
  readonly dear: readonly DueQuestion[];
}

async function fireBatch(services: Services, planned: Planned): Promise<Fired> {
  let inHand: string | null = null;
  try {
    return await services.store.transact(async (tx) => {
      const rows = await tx.query<{ id: string }>(
        `select a.id from automation a where ${isDue} <= $1::timestamptz
          order by a.due_at limit ${batchSize} for update skip locked`,
        [services.now()],
      );
      const dear: DueQuestion[] = [];
      for (const { id } of rows) {
        inHand = id;
        const question = await fireDue(services, tx, id, planned);
        if (question !== null) dear.push(question);
      }
      inHand = null;
      return { fired: rows.length - dear.length, dear };
    });
  } catch (error) {
    if (inHand === null) throw error;
    services.log.error({ err: error, automationId: inHand }, 'An automation could not be fired.');
    // The others of the batch are as they were, and are claimed again.
    return { fired: await noteCrashOf(services, inHand), dear: [] };
  }
}

/** Fires one; gives what is to be asked first where that takes long. */
async function fireDue(services: Services, tx: Transaction, id: string, planned: Planned): Promise<DueQuestion | null> {
  const firing = await lockForFiring(tx, id);
  const { automation } = firing;
  const question = await questionOf(services, tx, firing);
  const plan = planned.get(id);
  planned.delete(id);
  const due = plan?.of === keyOfQuestion(question) ? plan.due : dueTimeAtOnce(question);
  if (due === 'dear') return question;
  if (due === null) {
    // It has no time: that it was due is a remainder.
    await tx.query('update automation set due_at = null where id = $1', [id]);
    return null;
  }
  const run = await fireLocked(services, tx, firing, {
    deliveryKey: keyOf(due.time),
    trigger: { eventType: recurringEvent },
    scheduledFor: due.time,
    isRetry: true,
    ...(due.isSkipped ? { skip: 'The time was missed: nothing ran then, and the automation skips such times.' } : {}),
  });
  // A failure has noted when it is tried again.
  if (run.status === 'failed') return null;
  const { nextRunAt, dueAt } = due.next;
  await tx.query('update automation set next_run_at = $2::timestamptz, due_at = $3::timestamptz where id = $1', [
    id,
    nextRunAt,
    dueAt,
  ]);
  const isOver = nextRunAt === null && automation.triggers.every(({ eventType }) => eventType === recurringEvent);
  if (isOver) {
    await disableAutomation(services, tx, { automation, enterpriseId: firing.organization.enterpriseId }, 'over');
  }
  return null;
}

async function questionOf(services: Services, tx: Transaction, { automation }: Firing): Promise<DueQuestion> {
  const { id, nextRunAt, consecutiveFailures } = automation;
  const isRetry =
    nextRunAt !== null && consecutiveFailures > 0 && (await findRun(tx, id, keyOf(nextRunAt)))?.status === 'failed';
  return { automation, now: services.now(), isRetry };
}

const keyOf = (time: Date): string => `due:${time.toISOString()}`;

// In transactions of its own, for that of the firing is lost.
async function noteCrashOf(services: Services, id: string): Promise<number> {
  const question = await services.store.transact(async (tx) => questionOf(services, tx, await lockForFiring(tx, id)));
  const due = await findDueTime(question);
  if (due === null) return 0;
  return services.store.transact(async (tx) => {
    const firing = await lockForFiring(tx, id);
    // Somebody has changed it, or fired it, in the meantime: it is claimed again, or no more.
    if (keyOfQuestion(await questionOf(services, tx, firing)) !== keyOfQuestion(question)) return 1;
    await noteCrash(services, tx, firing, {
      deliveryKey: keyOf(due.time),
      trigger: { eventType: recurringEvent },
      scheduledFor: due.time,
    });
    return 1;
  });
}
