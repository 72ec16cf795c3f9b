import type { Transaction } from '../../../store/store.ts';
import type { Services } from '../../context.ts';
import { type AutomationRun, runColumns } from '../model/runs.ts';
import { lockForRun } from './locked-automation.ts';
import { hasFreeSlot } from './run-limits.ts';
import { saveRun } from './run-store.ts';
import { executeRun, failRun } from './start-run.ts';

/** Number of automations that one statement reads. */
const pageSize = 100;
/** Number of attempts to start a run after which it fails, if no attempt was refused. */
const maxAttempts = 5;

/**
 * The times, in ms, until which this process skips an automation whose run could not be started, by its unprefixed id.
 */
export type Pauses = Map<string, number>;
const pauseMs = 5_000;

/**
 * Starts queued runs, the oldest of each automation first, while it has free slots. Returns the organizations, by
 * unprefixed ids, whose runs stay queued. May run in several processes: each run starts once.
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
      // The transaction that has locked it starts its runs.
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
 * Records that a run could not be started because of an external error, such as a lost connection: it stays queued
 * until that has happened too often. Returns true if the next run may be tried at once.
 */
async function recordInterruption(
  services: Services,
  tx: Transaction,
  { id, automationId }: QueuedRun,
): Promise<boolean> {
  const locked = await lockForRun(tx, automationId);
  const oldest = await findOldest(tx, automationId);
  // It has been started after all, here or by another process.
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
