import type { ErrorCode } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import type { AutomationRecord } from '../model/automations.ts';
import type { RunStatus } from '../model/runs.ts';

/** Maximum number of queued runs if the automation limits its concurrent runs but not its queue. */
export const defaultQueueDepth = 100;
/** Number of an automation's latest runs among which active ones are counted. */
const maxRecentRuns = 1_000;

/** The decision whether a run starts now, is queued or is skipped, and the reason for a skip. */
export interface RunDecision {
  readonly status: Exclude<RunStatus, 'failed'>;
  readonly refusal: { readonly code: ErrorCode; readonly message: string } | null;
}

/**
 * Checks one more run against the automation's own limits. The automation is locked, so that no other run starts
 * meanwhile.
 */
export async function checkRunLimits(tx: Transaction, automation: AutomationRecord, now: Date): Promise<RunDecision> {
  const { invocations } = automation.options.limits ?? {};
  if (invocations) {
    const { maxPerWindow, windowSeconds } = invocations;
    // A count up to the limit suffices.
    const [recent] = await tx.query<{ count: number }>(
      `select count(*)::int as count from (select 1 from automation_run r where r.automation_id = $1
          and r.created_at > $2::timestamptz and r.status in ('started', 'queued') limit $3) recent`,
      [automation.id, new Date(now.getTime() - windowSeconds * 1_000), maxPerWindow],
    );
    if ((recent?.count ?? 0) >= maxPerWindow) {
      return skipped(
        `The automation may run at most ${maxPerWindow} times in ${windowSeconds} seconds, and this limit is reached.`,
      );
    }
  }
  const max = automation.options.concurrency?.maxConcurrentRuns;
  if (max == null) return { status: 'started', refusal: null };
  const depth = automation.options.concurrency?.maxQueueDepth ?? defaultQueueDepth;
  const waiting = await countQueued(tx, automation.id, depth);
  // Queued runs start first.
  if (waiting === 0 && (await hasFreeSlot(tx, automation))) return { status: 'started', refusal: null };
  if (waiting < depth) return { status: 'queued', refusal: null };
  return skipped(`As many runs of the automation as may be (${max}) are at work, and ${depth} may wait.`);
}

/**
 * True if fewer of an automation's runs are active than allowed. A run is active until its session has ended, failed or
 * been suspended.
 */
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
