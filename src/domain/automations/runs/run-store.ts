import type { Metrics } from '../../../metrics/metrics.ts';
import type { Transaction } from '../../../store/store.ts';
import { insertStatement } from '../../../store/tables.ts';
import type { Services } from '../../context.ts';
import { newId } from '../../ids.ts';
import { type AutomationRun, runColumns } from '../model/runs.ts';
import type { LockedAutomation, RunCause } from './locked-automation.ts';

/** Creates a run that has not started. */
export function newRun(services: Services, { automation }: LockedAutomation, cause: RunCause): AutomationRun {
  return {
    id: newId(),
    automationId: automation.id,
    organizationId: automation.organizationId,
    deliveryKey: cause.deliveryKey,
    trigger: cause.trigger,
    status: 'failed',
    sessionId: null,
    errorCode: null,
    errorMessage: null,
    attempts: 0,
    depth: cause.depth ?? 0,
    scheduledFor: cause.scheduledFor ?? null,
    createdAt: services.now(),
    startedAt: null,
  };
}

/** Returns the run of an automation with a delivery key; null: there is none. */
export async function findRun(
  tx: Transaction,
  automationId: string,
  deliveryKey: string,
): Promise<AutomationRun | null> {
  const [run] = await tx.query<AutomationRun>(
    `select ${runColumns} from automation_run r where r.automation_id = $1 and r.delivery_key = $2`,
    [automationId, deliveryKey],
  );
  return run ?? null;
}

/** Returns the runs of an automation after a time whose delivery had a signed body with this SHA-256, the first one first. */
export function findRunsOfBody(
  tx: Transaction,
  automationId: string,
  bodySha256: string,
  after: Date,
): Promise<AutomationRun[]> {
  return tx.query<AutomationRun>(
    `select ${runColumns} from automation_run r
      where r.automation_id = $1 and r.created_at > $3::timestamptz and r.trigger->>'bodySha256' = $2
      order by r.created_at, r.id`,
    [automationId, bodySha256, after],
  );
}

/**
 * Writes a run, or its new state, and notifies; `addition`, the text that follows the prompt, is stored until it
 * starts.
 */
export async function saveRun(
  { notifier, metrics }: Pick<Services, 'notifier' | 'metrics'>,
  tx: Transaction,
  run: AutomationRun,
  addition: string | null,
): Promise<AutomationRun> {
  const insert = insertStatement('AutomationRun', { ...run, addition });
  await tx.query(
    `${insert.text} on conflict (id) do update set status = excluded.status, session_id = excluded.session_id,
       error_code = excluded.error_code, error_message = excluded.error_message, attempts = excluded.attempts,
       addition = excluded.addition, started_at = excluded.started_at`,
    insert.values,
  );
  tx.afterCommit(() => {
    notifier.notify(`resources:${run.organizationId}`);
    countRun(metrics, run);
  });
  return run;
}

function countRun(
  { automationRuns, automationDelay }: Metrics,
  { status, scheduledFor, startedAt }: AutomationRun,
): void {
  automationRuns.inc({ status });
  if (status !== 'started' || scheduledFor === null || startedAt === null) return;
  automationDelay.observe(Math.max(0, startedAt.getTime() - scheduledFor.getTime()) / 1_000);
}
