import { permissionFor } from '../../auth/permissions.ts';
import { ownerOf, requirePermission } from '../../auth/viewer.ts';
import { notFound } from '../../common/errors.ts';
import { audit } from '../audit/record-audit.ts';
import type { Context } from '../context.ts';
import { type CreateOptions, findReplay } from '../idempotency.ts';
import { useOrganization } from '../identity/organizations/use-organization.ts';
import { newId } from '../ids.ts';
import { requireStartPermissions } from './actions/require-permissions.ts';
import type { AutomationRef } from './model/automations.ts';
import type { AutomationRun } from './model/runs.ts';
import { manualEvent } from './runs/record-outcome.ts';
import { findRun } from './runs/run-store.ts';
import { lockAndStartRun } from './runs/start-run.ts';
import { lockAutomation } from './save-automation.ts';

/**
 * Runs an automation now, even a disabled one, as its owner and within its limits: the run may also be queued, skipped
 * or fail, with a reason. Its schedule does not change. Throws NOT_FOUND; FORBIDDEN, also for a viewer that may not
 * execute its actions, and without ImpersonateOrgSessions if it runs as another user; ORGANIZATION_NOT_USABLE,
 * IDEMPOTENCY_CONFLICT.
 */
export async function runAutomation(
  context: Context,
  ref: AutomationRef,
  options: CreateOptions = {},
): Promise<AutomationRun> {
  const { id: organizationId } = await useOrganization(context, ref.organizationId, permissionFor.changeAutomations);
  const runId = newId();
  return context.store.transact(async (tx) => {
    const automation = await lockAutomation(tx, organizationId, ref.automationId);
    const { runAsUserId } = automation;
    requireStartPermissions(context.viewer, automation);
    if (runAsUserId !== null && runAsUserId !== ownerOf(context.viewer).userId) {
      requirePermission(context.viewer, permissionFor.runAutomationAsUser, organizationId);
    }
    const input = { automationId: automation.id };
    const claim = { scope: organizationId, operation: 'runAutomation', input, resultId: runId };
    const replay = await findReplay(context, tx, options, claim);
    if (replay !== null) {
      const existing = await findRun(tx, automation.id, keyOf(replay));
      if (existing === null) throw notFound('run');
      return existing;
    }
    // The audit log records the caller.
    const cause = { deliveryKey: keyOf(runId), trigger: { eventType: manualEvent } };
    const run = await lockAndStartRun(context, tx, automation, cause);
    const data = { name: automation.name, status: run.status };
    await audit(context, tx, 'run_automation', { organizationId, targetId: automation.id, data });
    return run;
  });
}

const keyOf = (id: string) => `manual:${id}`;
