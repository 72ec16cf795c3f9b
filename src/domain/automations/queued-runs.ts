import type { Transaction } from '../../store/store.ts';
import type { Services } from '../context.ts';
import { hasPlace } from './admit.ts';
import { failRun, startRun } from './fire.ts';
import { lockForFiring } from './firing.ts';
import { type AutomationRun, runColumns } from './runs.ts';

/** Automations looked at in one statement. */
const pageSize = 100;

/**
 * Starts the runs that wait, the oldest of each automation first, as far as it has places for them; gives the organizations,
 * by bare ids, of those that wait on. May run in several processes: each run starts once.
 */
export async function startQueuedRuns(services: Services, isStopping: () => boolean): Promise<ReadonlySet<string>> {
  const waiting = new Set<string>();
  for (let after = ''; ; ) {
    const page = await services.store.query<{ id: string; organizationId: string }>(
      `select distinct r.automation_id as id, r.organization_id as "organizationId" from automation_run r
        where r.status = 'queued' and r.automation_id > $1 order by r.automation_id limit ${pageSize}`,
      [after],
    );
    for (const { id, organizationId } of page) {
      while (!isStopping() && (await startOldest(services, id)));
      waiting.add(organizationId);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize || isStopping()) return waiting;
    after = last.id;
  }
}

async function startOldest(services: Services, automationId: string): Promise<boolean> {
  const inHand: { run: AutomationRun | null } = { run: null };
  try {
    return await services.store.transact(async (tx) => {
      // Who has it locked fires it, or starts its runs.
      const rows = await tx.query(
        'select 1 from automation where id = $1 and deleted_at is null for update skip locked',
        [automationId],
      );
      if (rows.length === 0) return false;
      const firing = await lockForFiring(tx, automationId);
      const oldest = await findOldest(tx, automationId);
      if (oldest === null || !(await hasPlace(tx, firing.automation))) return false;
      const { addition, ...run } = oldest;
      inHand.run = run;
      await startRun(services, tx, firing, run, addition);
      return true;
    });
  } catch (error) {
    const { run } = inHand;
    if (run === null) throw error;
    services.log.error({ err: error, automationId, runId: run.id }, 'A run of an automation could not be started.');
    await services.store.transact(async (tx) => failRun(services, tx, await lockForFiring(tx, automationId), run));
    return true;
  }
}

async function findOldest(
  tx: Transaction,
  automationId: string,
): Promise<(AutomationRun & { addition: string | null }) | null> {
  const [run] = await tx.query<AutomationRun & { addition: string | null }>(
    `select ${runColumns}, r.addition from automation_run r where r.automation_id = $1 and r.status = 'queued'
      order by r.created_at, r.id limit 1`,
    [automationId],
  );
  return run ?? null;
}
