import type { Transaction } from '../../store/store.ts';
import type { Services } from '../context.ts';
import { type DueTime, dueTime } from './due-times.ts';
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
  for (let count = 0; ; ) {
    if (isStopping()) return count;
    const claimed = await fireBatch(services);
    count += claimed;
    if (claimed === 0) return count;
  }
}

/** When the next automation is due; null: none is. It may be over already, where another process has claimed it. */
export async function nextDueAt(services: Services): Promise<Date | null> {
  const [next] = await services.store.query<{ dueAt: Date }>(
    `select a.due_at as "dueAt" from automation a where ${isDue} is not null order by a.due_at limit 1`,
  );
  return next?.dueAt ?? null;
}

async function fireBatch(services: Services): Promise<number> {
  let inHand: string | null = null;
  try {
    return await services.store.transact(async (tx) => {
      const rows = await tx.query<{ id: string }>(
        `select a.id from automation a where ${isDue} <= $1::timestamptz
          order by a.due_at limit ${batchSize} for update skip locked`,
        [services.now()],
      );
      for (const { id } of rows) {
        inHand = id;
        await fireDue(services, tx, id);
      }
      inHand = null;
      return rows.length;
    });
  } catch (error) {
    if (inHand === null) throw error;
    services.log.error({ err: error, automationId: inHand }, 'An automation could not be fired.');
    // The others of the batch are as they were, and are claimed again.
    return noteCrashOf(services, inHand);
  }
}

async function fireDue(services: Services, tx: Transaction, id: string): Promise<void> {
  const firing = await lockForFiring(tx, id);
  const { automation } = firing;
  const due = await dueOf(services, tx, firing);
  if (due === null) {
    // It has no time: that it was due is a remainder.
    await tx.query('update automation set due_at = null where id = $1', [id]);
    return;
  }
  const run = await fireLocked(services, tx, firing, {
    deliveryKey: keyOf(due.time),
    trigger: { eventType: recurringEvent },
    scheduledFor: due.time,
    isRetry: true,
    ...(due.isSkipped ? { skip: 'The time was missed: nothing ran then, and the automation skips such times.' } : {}),
  });
  // A failure has noted when it is tried again.
  if (run.status === 'failed') return;
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
}

async function dueOf(services: Services, tx: Transaction, { automation }: Firing): Promise<DueTime | null> {
  const { id, nextRunAt, consecutiveFailures } = automation;
  const isRetry =
    nextRunAt !== null && consecutiveFailures > 0 && (await findRun(tx, id, keyOf(nextRunAt)))?.status === 'failed';
  return dueTime(automation, services.now(), isRetry);
}

const keyOf = (time: Date): string => `due:${time.toISOString()}`;

// In a transaction of its own, for that of the firing is lost.
async function noteCrashOf(services: Services, id: string): Promise<number> {
  return services.store.transact(async (tx) => {
    const firing = await lockForFiring(tx, id);
    const due = await dueOf(services, tx, firing);
    if (due === null) return 0;
    await noteCrash(services, tx, firing, {
      deliveryKey: keyOf(due.time),
      trigger: { eventType: recurringEvent },
      scheduledFor: due.time,
    });
    return 1;
  });
}
