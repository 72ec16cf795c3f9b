import { requireConfirmation } from '../../auth/confirmation.ts';
import { permissionFor } from '../../auth/permissions.ts';
import { ownerOf, requirePermission } from '../../auth/viewer.ts';
import { DomainError } from '../../common/errors.ts';
import { audit } from '../audit/record-audit.ts';
import { changedBy } from '../authors.ts';
import type { Context } from '../context.ts';
import { type CreateOptions, findReplay } from '../idempotency.ts';
import { useOrganization } from '../identity/organizations/use-organization.ts';
import { requireStartPermissions } from './actions/require-permissions.ts';
import type { WrittenAutomation } from './change-automations.ts';
import type { AutomationRef } from './model/automations.ts';
import { lockAutomation, writeAutomation } from './save-automation.ts';
import { newWebhookSecret } from './triggers/webhook-secrets.ts';

/**
 * Replaces the secret of an automation's incoming webhook. The new secret is shown once, and the old one becomes
 * invalid. The secret lets its owner run the automation, so this needs the permissions to run it. Throws NOT_FOUND,
 * FORBIDDEN, ORGANIZATION_NOT_USABLE, IDEMPOTENCY_CONFLICT; INVALID_STATE without such a webhook.
 */
export async function rotateIncomingWebhookSecret(
  context: Context,
  ref: AutomationRef,
  options: CreateOptions = {},
): Promise<WrittenAutomation> {
  const { id: organizationId } = await useOrganization(context, ref.organizationId, permissionFor.changeAutomations);
  requireConfirmation(context);
  return context.store.transact(async (tx) => {
    const before = await lockAutomation(tx, organizationId, ref.automationId);
    requireStartPermissions(context.viewer, before);
    if (before.runAsUserId !== null && before.runAsUserId !== ownerOf(context.viewer).userId) {
      requirePermission(context.viewer, permissionFor.runAutomationAsUser, organizationId);
    }
    const input = { automationId: before.id };
    const claim = { scope: organizationId, operation: 'rotateAutomationWebhookSecret', input, resultId: before.id };
    const isReplay = (await findReplay(context, tx, options, claim)) !== null;
    if (isReplay) return { automation: before, webhookSecret: null };
    if (before.webhookSecretHash === null) {
      throw new DomainError('INVALID_STATE', 'The automation has no trigger "webhook:incoming", so it has no secret.');
    }
    const { secret, hash, sealed } = newWebhookSecret(context, before);
    const change = { ...changedBy(context, before), webhookSecretHash: hash, webhookSecretSealed: sealed };
    await writeAutomation(tx, before.id, change);
    const data = { name: before.name, changed: 'webhookSecret' };
    await audit(context, tx, 'update_automation', { organizationId, targetId: before.id, data });
    return { automation: { ...before, ...change }, webhookSecret: secret };
  });
}
