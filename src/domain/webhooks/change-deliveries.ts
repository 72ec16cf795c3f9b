import { permissionFor } from '../../auth/permissions.ts';
import { requireAnyPermission } from '../../auth/viewer.ts';
import { DomainError, notFound } from '../../common/errors.ts';
import type { Transaction } from '../../store/store.ts';
import { audit } from '../audit/record-audit.ts';
import type { Context } from '../context.ts';
import { type CreateOptions, findReplay } from '../idempotency.ts';
import { newId, parseId } from '../ids.ts';
import { getEndpointToChange, lockEndpoint } from './change-endpoints.ts';
import {
  findWebhookDeliveries,
  toWebhookDelivery,
  type WebhookDeliveryRecord,
  webhookDeliverySelection,
} from './deliveries.ts';
import type { WebhookEndpointRecord } from './endpoints.ts';
import { testEventType } from './event-types.ts';

/** Sends a test event to an endpoint, once. Throws NOT_FOUND, FORBIDDEN, and INVALID_STATE for a disabled endpoint. */
export async function testWebhookEndpoint(
  context: Context,
  endpointId: string,
  options: CreateOptions = {},
): Promise<WebhookDeliveryRecord> {
  const seen = await getEndpointToChange(context, endpointId);
  return context.store.transact(async (tx) => {
    const endpoint = await lockEndpoint(tx, seen.id);
    const id = newId();
    const input = { webhookEndpointId: seen.id };
    const claim = { scope: seen.organizationId, operation: 'testWebhookEndpoint', input, resultId: id };
    const replay = await findReplay(context, tx, options, claim);
    if (replay !== null) return readDelivery(tx, replay);
    requireEnabled(endpoint);
    const now = context.now();
    const delivery = await tx.prisma.webhookDelivery.create({
      data: {
        id,
        organizationId: endpoint.organizationId,
        endpointId: endpoint.id,
        eventType: testEventType,
        eventId: id,
        status: 'pending',
        nextAttemptAt: now,
        begunAt: now,
        createdAt: now,
      },
      select: webhookDeliverySelection,
    });
    const target = { organizationId: endpoint.organizationId, targetId: endpoint.id };
    await audit(context, tx, 'test_webhook_endpoint', target);
    tx.afterCommit(() => context.notifier.notify('deliveries'));
    return toWebhookDelivery(delivery);
  });
}

/**
 * Sends a delivery again, at once and with as many attempts as a new one, whether it had succeeded or not; a pending
 * delivery is sent at once. Its id stays. Throws NOT_FOUND, FORBIDDEN, and INVALID_STATE if the endpoint is disabled.
 */
export async function redeliverWebhookDelivery(
  context: Context,
  deliveryId: string,
  options: CreateOptions = {},
): Promise<WebhookDeliveryRecord> {
  requireAnyPermission(context.viewer, [permissionFor.manageWebhooks]);
  const bare = parseId('webhookDelivery', deliveryId);
  const [seen] = bare === null ? [] : await findWebhookDeliveries(context, [bare]);
  if (!seen) throw notFound('webhook delivery');
  await getEndpointToChange(context, seen.endpointId);
  return context.store.transact(async (tx) => {
    const input = { webhookDeliveryId: seen.id };
    const claim = { scope: seen.organizationId, operation: 'redeliverWebhookDelivery', input, resultId: seen.id };
    const replay = await findReplay(context, tx, options, claim);
    if (replay !== null) return readDelivery(tx, replay);
    // In the lock order of the statements that write the result of an attempt.
    const now = context.now();
    const [delivery] = await tx.prisma.webhookDelivery.updateManyAndReturn({
      where: { id: seen.id },
      data: { status: 'pending', attemptCount: 0, nextAttemptAt: now, begunAt: now, finishedAt: null },
      select: webhookDeliverySelection,
    });
    if (!delivery) throw notFound('webhook delivery');
    requireEnabled(await lockEndpoint(tx, seen.endpointId));
    const target = { organizationId: seen.organizationId, targetId: seen.id, data: { eventType: seen.eventType } };
    await audit(context, tx, 'redeliver_webhook', target);
    tx.afterCommit(() => context.notifier.notify('deliveries'));
    return toWebhookDelivery(delivery);
  });
}

async function readDelivery(tx: Transaction, id: string): Promise<WebhookDeliveryRecord> {
  const delivery = await tx.prisma.webhookDelivery.findUnique({ where: { id }, select: webhookDeliverySelection });
  if (!delivery) throw notFound('webhook delivery');
  return toWebhookDelivery(delivery);
}

function requireEnabled({ isEnabled }: WebhookEndpointRecord): void {
  if (!isEnabled) throw new DomainError('INVALID_STATE', 'The webhook endpoint is disabled. Enable it first.');
}
