import type { Transaction } from '../../store/store.ts';
import type { Services } from '../context.ts';
import { newId } from '../ids.ts';
import type { FireCause, Firing } from './firing.ts';
import { type AutomationRun, runColumns } from './runs.ts';

/** A run that has not begun. */
export function newRun(services: Services, { automation }: Firing, cause: FireCause): AutomationRun {
  return {
    id: newId(),
    automationId: automation.id,
    organizationId: automation.organizationId,
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

/** The run of an automation that answers a delivery key; null: it has not been answered. */
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

/** Writes a new run. */
export async function insertRun(
  tx: Transaction,
  run: AutomationRun,
  { deliveryKey, addition }: FireCause,
): Promise<void> {
  await tx.query(
    `insert into automation_run (id, automation_id, organization_id, delivery_key, trigger, status, error_code, error_message,
       depth, addition, scheduled_for, created_at)
     values ($1, $2, $3, $4, $5::jsonb, $6, $7, $8, $9::int, $10, $11::timestamptz, $12::timestamptz)`,
    [
      run.id,
      run.automationId,
      run.organizationId,
      deliveryKey,
      JSON.stringify(run.trigger),
      run.status,
      run.errorCode,
      run.errorMessage,
      run.depth,
      run.status === 'queued' ? (addition ?? null) : null,
      run.scheduledFor,
      run.createdAt,
    ],
  );
}

/** Writes how far a run has come; what the prompt is to be followed by is kept only until it starts. */
export async function saveRun(tx: Transaction, run: AutomationRun, addition: string | null): Promise<AutomationRun> {
  await tx.query(
    `update automation_run set status = $2, session_id = $3, error_code = $4, error_message = $5, attempts = $6::int,
            started_at = $7::timestamptz, addition = $8
      where id = $1`,
    [run.id, run.status, run.sessionId, run.errorCode, run.errorMessage, run.attempts, run.startedAt, addition],
  );
  return run;
}
