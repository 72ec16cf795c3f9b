import { permissionFor } from '../../auth/permissions.ts';
import { ownerOf, requirePermission } from '../../auth/viewer.ts';
import { audit } from '../audit.ts';
import type { Context } from '../context.ts';
import { notFound } from '../errors.ts';
import { type CreateOptions, findReplay } from '../idempotency.ts';
import { newId } from '../ids.ts';
import { useOrganization } from '../organizations/use-organization.ts';
import type { AutomationPlace } from './automations.ts';
import { fireAutomation } from './fire.ts';
import { manualEvent } from './note-outcome.ts';
import { requireStarting } from './require-acting.ts';
import { findRun } from './run-rows.ts';
import type { AutomationRun } from './runs.ts';
import { lockAutomation } from './save-automation.ts';

/**
 * Lets an automation act now, also one that is disabled: as its owner and within its limits, so that the run may also wait,
 * be left out or fail, and then says why. Its times stay as they are. NOT_FOUND; FORBIDDEN, also for who may not do what it does,
 * and for what runs as another user without ImpersonateOrgSessions; ORGANIZATION_NOT_USABLE, IDEMPOTENCY_CONFLICT.
 */
export async function runAutomation(
  context: Context,
  place: AutomationPlace,
  options: CreateOptions = {},
): Promise<AutomationRun> {
  const { id: organizationId } = await useOrganization(context, place.organizationId, permissionFor.changeAutomations);
  const runId = newId();
  return context.store.transact(async (tx) => {
    const automation = await lockAutomation(tx, organizationId, place.automationId);
    const { runAsUserId } = automation;
    requireStarting(context.viewer, automation);
    if (runAsUserId !== null && runAsUserId !== ownerOf(context.viewer).userId) {
      requirePermission(context.viewer, permissionFor.runAutomationAsUser, organizationId);
    }
    const input = { automationId: automation.id };
    const claim = { scope: organizationId, operation: 'runAutomation', input, resultId: runId };
    const replay = await findReplay(context, tx, options, claim);
    if (replay !== null) {
      const known = await findRun(tx, automation.id, keyOf(replay));
      if (known === null) throw notFound('run');
      return known;
    }
    // Who it was is the audit log's to tell.
    const cause = { deliveryKey: keyOf(runId), trigger: { eventType: manualEvent } };
    const run = await fireAutomation(context, tx, automation, cause);
    const data = { name: automation.name, status: run.status };
    await audit(context, tx, 'run_automation', { organizationId, targetId: automation.id, data });
    return run;
  });
}

const keyOf = (id: string) => `manual:${id}`;
