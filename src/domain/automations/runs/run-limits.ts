import type { Transaction } from '../../../store/store.ts';
import type { ErrorCode } from '../../errors.ts';
import type { AutomationRecord } from '../model/automations.ts';
import type { RunStatus } from '../model/runs.ts';

/** How many runs may wait where an automation says how many may be at work, and not how many may wait. */
export const defaultQueueDepth = 100;
/** Among so many of an automation's last runs those at work are looked for. */
const maxRecentRuns = 1_000;

/** Whether a run may start now, waits, or is left out, and then why. */
export interface RunDecision {
  readonly status: Exclude<RunStatus, 'failed'>;
  readonly refusal: { readonly code: ErrorCode; readonly message: string } | null;
}

/** What an automation's own limits say to one more run. The automation is locked, so that no other is let in meanwhile. */
export async function checkRunLimits(tx: Transaction, automation: AutomationRecord, now: Date): Promise<RunDecision> {
  const { invocations } = automation.options.limits ?? {};
  if (invocations) {
    const { maxPerWindow, windowSeconds } = invocations;
    // At least the last so many must be looked at; more say nothing else.
    const [recent] = await tx.query<{ count: number }>(
      `select count(*)::int as count from (select 1 from automation_run r where r.automation_id = $1
          and r.created_at > $2::timestamptz and r.status in ('started', 'queued') limit $3) recent`,
      [automation.id, new Date(now.getTime() - windowSeconds * 1_000), maxPerWindow],
    );
    if ((recent?.count ?? 0) >= maxPerWindow) {
      return skipped(`The automation may act at most ${maxPerWindow} times in ${windowSeconds} seconds, and has.`);
    }
  }
  const max = automation.options.concurrency?.maxConcurrentRuns;
  if (max == null) return { status: 'started', refusal: null };
  const depth = automation.options.concurrency?.maxQueueDepth ?? defaultQueueDepth;
  const waiting = await countQueued(tx, automation.id, depth);
  // Who came earlier goes first.
  if (waiting === 0 && (await hasFreeSlot(tx, automation))) return { status: 'started', refusal: null };
  if (waiting < depth) return { status: 'queued', refusal: null };
  return skipped(`As many runs of the automation as may be (${max}) are at work, and ${depth} may wait.`);
}

/** Whether fewer of an automation's runs are at work than may be: their sessions have not ended, failed or been put to sleep. */
export async function hasFreeSlot(tx: Transaction, { id, options }: AutomationRecord): Promise<boolean> {
  const max = options.concurrency?.maxConcurrentRuns;
  if (max == null) return true;
  const [atWork] = await tx.query<{ count: number }>(
    `select count(distinct s.id)::int as count
       from (select r.session_id from automation_run r where r.automation_id = $1 and r.status = 'started'
              order by r.created_at desc, r.id desc limit ${maxRecentRuns}) r
       join session s on s.id = r.session_id and s.status in ('new', 'claimed', 'running', 'resuming')`,
    [id],
  );
  return (atWork?.count ?? 0) < max;
}

async function countQueued(tx: Transaction, automationId: string, max: number): Promise<number> {
  const [queued] = await tx.query<{ count: number }>(
    `select count(*)::int as count from (select 1 from automation_run r where r.automation_id = $1
        and r.status = 'queued' limit $2) queued`,
    [automationId, Math.max(max, 1)],
  );
  return queued?.count ?? 0;
}

const skipped = (message: string): RunDecision => ({ status: 'skipped', refusal: { code: 'LIMIT_EXCEEDED', message } });
