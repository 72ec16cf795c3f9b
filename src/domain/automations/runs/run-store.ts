import type { Transaction } from '../../../store/store.ts';
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
  { notifier }: Pick<Services, 'notifier'>,
  tx: Transaction,
  run: AutomationRun,
  addition: string | null,
): Promise<AutomationRun> {
  await tx.query(
    `insert into automation_run (id, automation_id, organization_id, delivery_key, trigger, status, session_id, error_code,
       error_message, attempts, depth, addition, scheduled_for, created_at, started_at)
     values ($1, $2, $3, $4, $5::jsonb, $6, $7, $8, $9, $10::int, $11::int, $12, $13::timestamptz, $14::timestamptz, $15::timestamptz)
     on conflict (id) do update set status = excluded.status, session_id = excluded.session_id, error_code = excluded.error_code,
       error_message = excluded.error_message, attempts = excluded.attempts, addition = excluded.addition,
       started_at = excluded.started_at`,
    [
      run.id,
      run.automationId,
      run.organizationId,
      run.deliveryKey,
      JSON.stringify(run.trigger),
      run.status,
      run.sessionId,
      run.errorCode,
      run.errorMessage,
      run.attempts,
      run.depth,
      addition,
      run.scheduledFor,
      run.createdAt,
      run.startedAt,
    ],
  );
  tx.afterCommit(() => notifier.notify(`resources:${run.organizationId}`));
  return run;
}
