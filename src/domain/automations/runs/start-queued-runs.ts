import type { Transaction } from '../../../store/store.ts';
import type { Services } from '../../context.ts';
import { type AutomationRun, runColumns } from '../model/runs.ts';
import { lockForRun } from './locked-automation.ts';
import { hasFreeSlot } from './run-limits.ts';
import { saveRun } from './run-store.ts';
import { executeRun, failRun } from './start-run.ts';

/** Automations looked at in one statement. */
const pageSize = 100;
/** A run that could not be started so often, without having been refused, has failed. */
const maxAttempts = 5;

/** Until when, in ms, this process leaves the runs of an automation alone that could not be started; by its bare id. */
export type Pauses = Map<string, number>;
const pauseMs = 5_000;

/**
 * Starts the runs that wait, the oldest of each automation first, as far as it has places for them; gives the organizations,
 * by bare ids, of those that wait on. May run in several processes: each run starts once.
 */
export async function startQueuedRuns(
  services: Services,
  pauses: Pauses,
  isStopping: () => boolean,
): Promise<ReadonlySet<string>> {
  const waiting = new Set<string>();
  for (let after = ''; ; ) {
    const page = await services.store.query<{ id: string; organizationId: string }>(
      `select distinct r.automation_id as id, r.organization_id as "organizationId" from automation_run r
        where r.status = 'queued' and r.automation_id > $1 order by r.automation_id limit ${pageSize}`,
      [after],
    );
    for (const { id, organizationId } of page) {
      while (!isStopping() && !isPaused(services, pauses, id) && (await startOldest(services, pauses, id)));
      waiting.add(organizationId);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize || isStopping()) return waiting;
    after = last.id;
  }
}

function isPaused(services: Services, pauses: Pauses, automationId: string): boolean {
  const leftMs = (pauses.get(automationId) ?? 0) - services.now().getTime();
  // Longer than a pause: the clock was set back.
  if (leftMs > 0 && leftMs <= pauseMs) return true;
  pauses.delete(automationId);
  return false;
}

async function startOldest(services: Services, pauses: Pauses, automationId: string): Promise<boolean> {
  const current: { run: QueuedRun | null } = { run: null };
  try {
    return await services.store.transact(async (tx) => {
      // Who has it locked fires it, or starts its runs.
      const rows = await tx.query(
        'select 1 from automation where id = $1 and deleted_at is null for update skip locked',
        [automationId],
      );
      if (rows.length === 0) return false;
      const locked = await lockForRun(tx, automationId);
      const oldest = await findOldest(tx, automationId);
      if (oldest === null || !(await hasFreeSlot(tx, locked.automation))) return false;
      current.run = oldest;
      const { addition, ...run } = oldest;
      await executeRun(services, tx, locked, run, addition);
      return true;
    });
  } catch (error) {
    const { run } = current;
    if (run === null) throw error;
    services.log.error({ err: error, automationId, runId: run.id }, 'A run of an automation could not be started.');
    pauses.set(automationId, services.now().getTime() + pauseMs);
    return services.store.transact((tx) => recordInterruption(services, tx, run));
  }
}

/**
 * Notes that a run was not started for no fault of its own, a lost connection for one: it waits on, until that has happened
 * too often. True: the next may be tried at once.
 */
async function recordInterruption(
  services: Services,
  tx: Transaction,
  { id, automationId }: QueuedRun,
): Promise<boolean> {
  const locked = await lockForRun(tx, automationId);
  const oldest = await findOldest(tx, automationId);
  // It was started after all, here or by another process.
  if (oldest?.id !== id) return true;
  const { addition, ...run } = oldest;
  if (run.attempts + 1 >= maxAttempts) {
    await failRun(services, tx, locked, run);
    return true;
  }
  await saveRun(services, tx, { ...run, attempts: run.attempts + 1 }, addition);
  return false;
}

type QueuedRun = AutomationRun & { readonly addition: string | null };

async function findOldest(tx: Transaction, automationId: string): Promise<QueuedRun | null> {
  const [run] = await tx.query<QueuedRun>(
    `select ${runColumns}, r.addition from automation_run r where r.automation_id = $1 and r.status = 'queued'
      order by r.created_at, r.id limit 1`,
    [automationId],
  );
  return run ?? null;
}
