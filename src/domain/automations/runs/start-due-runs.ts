import type { Transaction } from '../../../store/store.ts';
import type { Services } from '../../context.ts';
import { canonicalJson } from '../../idempotency.ts';
import { recurringEvent } from '../model/event-types.ts';
import { type DueTime, type DueTimeQuery, dueTimeAtOnce, findDueTime } from '../schedule/due-times.ts';
import { type LockedAutomation, lockForRun } from './locked-automation.ts';
import { disableAutomation } from './record-outcome.ts';
import { findRun } from './run-store.ts';
import { recordCrash, startRun } from './start-run.ts';

/** Number of automations that are claimed at once, all in one transaction. */
const batchSize = 10;

const isDue = 'a.is_enabled and a.deleted_at is null and a.due_at';

/**
 * Starts the runs of automations that are due, the longest waiting first, until none is left. Returns their number. The
 * claim, the session and the next occurrence are one transaction, so that each occurrence starts one run even after a
 * crash. May run in several processes, and several times in one: automations that another transaction has claimed are
 * skipped.
 */
export async function startDueRuns(services: Services, isStopping: () => boolean): Promise<number> {
  const planned: PlannedTimes = new Map();
  for (let count = 0; ; ) {
    if (isStopping()) return count;
    const { started, expensive } = await startDueBatch(services, planned);
    count += started;
    if (started === 0 && expensive.length === 0) return count;
    // Expensive occurrences are computed without locks; then the automation is claimed again.
    for (const query of expensive) {
      if (isStopping()) return count;
      planned.set(query.automation.id, { of: keyOfQuery(query), due: await findDueTime(query) });
    }
  }
}

/** The results that were computed outside of a transaction, by automation id. */
type PlannedTimes = Map<string, { readonly of: string; readonly due: DueTime | null }>;

// A change of the automation invalidates a computed result; the passage of time does not.
const keyOfQuery = ({ automation: { triggers, options, nextRunAt, dueAt }, isRetry }: DueTimeQuery): string =>
  canonicalJson([triggers, options.missedRuns, options.jitterSeconds, nextRunAt, dueAt, isRetry]);

/**
 * Returns the time when the next automation is due; null: none. It may be in the past if another process has claimed
 * the automation.
 */
export async function nextDueAt(services: Services): Promise<Date | null> {
  const [next] = await services.store.query<{ dueAt: Date }>(
    `select a.due_at as "dueAt" from automation a where ${isDue} is not null order by a.due_at limit 1`,
  );
  return next?.dueAt ?? null;
}

interface DueBatchResult {
  readonly started: number;
  /** Claimed but unchanged: their occurrences are expensive to compute. */
  readonly expensive: readonly DueTimeQuery[];
}

async function startDueBatch(services: Services, planned: PlannedTimes): Promise<DueBatchResult> {
  let currentId: string | null = null;
  try {
    return await services.store.transact(async (tx) => {
      const rows = await tx.query<{ id: string }>(
        `select a.id from automation a where ${isDue} <= $1::timestamptz
          order by a.due_at limit ${batchSize} for update skip locked`,
        [services.now()],
      );
      const expensive: DueTimeQuery[] = [];
      for (const { id } of rows) {
        currentId = id;
        const query = await startDueRun(services, tx, id, planned);
        if (query !== null) expensive.push(query);
      }
      currentId = null;
      return { started: rows.length - expensive.length, expensive };
    });
  } catch (error) {
    if (currentId === null) throw error;
    services.log.error({ err: error, automationId: currentId }, 'An automation could not be fired.');
    // The others of the batch are unchanged, and are claimed again.
    return { started: await recordCrashOf(services, currentId), expensive: [] };
  }
}

/** Starts a run of one automation. Returns a query to compute first if it is expensive. */
async function startDueRun(
  services: Services,
  tx: Transaction,
  id: string,
  planned: PlannedTimes,
): Promise<DueTimeQuery | null> {
  const locked = await lockForRun(tx, id);
  const { automation } = locked;
  const query = await dueTimeQueryOf(services, tx, locked);
  const plan = planned.get(id);
  planned.delete(id);
  const due = plan?.of === keyOfQuery(query) ? plan.due : dueTimeAtOnce(query);
  if (due === 'expensive') return query;
  if (due === null) {
    // It has no next occurrence: the due time is left over.
    await tx.query('update automation set due_at = null where id = $1', [id]);
    return null;
  }
  const run = await startRun(services, tx, locked, {
    deliveryKey: keyOf(due.time),
    trigger: { eventType: recurringEvent },
    scheduledFor: due.time,
    isRetry: true,
    ...(due.isSkipped
      ? { skip: 'The service was not running at this time, and the automation skips missed times.' }
      : {}),
  });
  // The failure has recorded the time of the retry.
  if (run.status === 'failed') return null;
  const { nextRunAt, dueAt } = due.next;
  await tx.query('update automation set next_run_at = $2::timestamptz, due_at = $3::timestamptz where id = $1', [
    id,
    nextRunAt,
    dueAt,
  ]);
  const isOver = nextRunAt === null && automation.triggers.every(({ eventType }) => eventType === recurringEvent);
  if (isOver) {
    await disableAutomation(services, tx, { automation, enterpriseId: locked.organization.enterpriseId }, 'over');
  }
  return null;
}

async function dueTimeQueryOf(
  services: Services,
  tx: Transaction,
  { automation }: LockedAutomation,
): Promise<DueTimeQuery> {
  const { id, nextRunAt, consecutiveFailures } = automation;
  const isRetry =
    nextRunAt !== null && consecutiveFailures > 0 && (await findRun(tx, id, keyOf(nextRunAt)))?.status === 'failed';
  return { automation, now: services.now(), isRetry };
}

const keyOf = (time: Date): string => `due:${time.toISOString()}`;

// In separate transactions, because the run's transaction is rolled back.
async function recordCrashOf(services: Services, id: string): Promise<number> {
  const query = await services.store.transact(async (tx) => dueTimeQueryOf(services, tx, await lockForRun(tx, id)));
  const due = await findDueTime(query);
  if (due === null) return 0;
  return services.store.transact(async (tx) => {
    const locked = await lockForRun(tx, id);
    // It has been changed, or has run, in the meantime: it is claimed again if it is still due.
    if (keyOfQuery(await dueTimeQueryOf(services, tx, locked)) !== keyOfQuery(query)) return 1;
    await recordCrash(services, tx, locked, {
      deliveryKey: keyOf(due.time),
      trigger: { eventType: recurringEvent },
      scheduledFor: due.time,
    });
    return 1;
  });
}
