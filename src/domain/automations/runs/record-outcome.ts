import type { Transaction } from '../../../store/store.ts';
import { audit } from '../../audit/record-audit.ts';
import { changedBy, editorValues, setEditor } from '../../authors.ts';
import type { Services } from '../../context.ts';
import { asSystem } from '../../sessions/as-system.ts';
import type { AutomationRecord } from '../model/automations.ts';
import type { AutomationRun } from '../model/runs.ts';
import type { LockedAutomation } from './locked-automation.ts';
import { skipQueuedRuns } from './skip-queued-runs.ts';

/** Number of consecutive failures after which an automation is disabled. */
export const maxFailures = 10;
/** Wait before a failed occurrence is retried: doubled with each failure, up to the maximum. */
export const backOff = { firstMs: 60 * 1_000, maxMs: 60 * 60 * 1_000 } as const;
/** The event of a run that a user requested. */
export const manualEvent = 'manual';

/** Records that an automation has run, and resets its failures. */
export async function recordSuccess(
  services: Services,
  tx: Transaction,
  { automation }: LockedAutomation,
): Promise<void> {
  await tx.query('update automation set last_run_at = $2::timestamptz, consecutive_failures = 0 where id = $1', [
    automation.id,
    services.now(),
  ]);
}

/**
 * Records a failure. An occurrence of a recurring trigger is retried after an increasing wait; after {@link
 * maxFailures} consecutive failures of any trigger the automation is disabled. A run that a user requested does not
 * count, because the user gets the error.
 */
export async function recordFailure(
  services: Services,
  tx: Transaction,
  { automation, organization, isOrganizationGone }: LockedAutomation,
  run: Pick<AutomationRun, 'trigger' | 'scheduledFor' | 'errorMessage'>,
): Promise<void> {
  const isCounted = run.trigger.eventType !== manualEvent;
  const failures = automation.consecutiveFailures + (isCounted ? 1 : 0);
  const now = services.now();
  await tx.query(
    `update automation set last_error_at = $2::timestamptz, last_error_message = $3, consecutive_failures = $4::int
      where id = $1`,
    [automation.id, now, run.errorMessage, failures],
  );
  if (!isCounted) return;
  if (failures >= maxFailures || isOrganizationGone) {
    const reason = isOrganizationGone ? 'organization_deleted' : 'failures';
    await disableAutomation(services, tx, { automation, enterpriseId: organization.enterpriseId }, reason);
    return;
  }
  if (run.scheduledFor === null) return;
  const waitMs = Math.min(backOff.firstMs * 2 ** (failures - 1), backOff.maxMs);
  await tx.query(
    'update automation set next_run_at = $2::timestamptz, due_at = $3::timestamptz where id = $1 and is_enabled',
    [automation.id, run.scheduledFor, new Date(now.getTime() + waitMs)],
  );
}

/** The reason why the service itself disables an automation. */
export type DisableReason = 'failures' | 'organization_deleted' | 'over';

/** Disables an automation in the name of the service, with an audit entry. Does nothing if it is disabled. */
export async function disableAutomation(
  services: Services,
  tx: Transaction,
  { automation, enterpriseId }: { readonly automation: AutomationRecord; readonly enterpriseId: string },
  reason: DisableReason,
): Promise<void> {
  const { id: targetId, organizationId, name } = automation;
  const system = asSystem(services, enterpriseId);
  const rows = await tx.query(
    `update automation set is_enabled = false, next_run_at = null, due_at = null, ${setEditor(2)}
      where id = $1 and is_enabled returning id`,
    [targetId, ...editorValues(changedBy(system))],
  );
  if (rows.length === 0) return;
  // Queued runs are executed, even if the last occurrence was the end of the rule.
  if (reason !== 'over') await skipQueuedRuns(tx, targetId);
  const data = { name, changed: 'enabled', reason };
  await audit(system, tx, 'update_automation', { organizationId, targetId, data });
}
