import type { Services } from '../domain/context.ts';
import { readFeed } from '../domain/feeds/read-feed.ts';
import { type ClaimedDelivery, claimDeliveries, nextDueAt } from '../domain/webhooks/claim-deliveries.ts';
import { webhookEvents } from '../domain/webhooks/collect-events.ts';
import { deliver } from '../domain/webhooks/deliver.ts';
import { createWebhookSender } from '../domain/webhooks/send-webhook.ts';
import { createClaimedWork, createCount } from './claimed-work.ts';
import { createFeedReading } from './feed-reading.ts';
import type { Scheduled } from './retention.ts';

/** Maximum number of concurrent requests of one process. */
const maxInFlight = 64;

/**
 * Sends session events to the webhook endpoints of organizations: reads the logs after each notification, and sends the
 * deliveries that are due. Any number of processes may do it at once.
 */
export function createWebhooks(services: Services): Scheduled {
  let isOver = false;
  const isStopped = () => isOver;
  const sending = createSending(services, isStopped);
  const reading = createFeedReading(services, {
    consumer: webhookEvents,
    topic: 'webhooks',
    purpose: 'webhooks',
    read: (organizationId, from) => readFeed(services, webhookEvents, organizationId, from),
  });
  let unsubscribes: (() => void)[] = [];
  return {
    start() {
      // Deliveries that waited for their endpoint to be enabled are due at once.
      unsubscribes = [
        services.notifier.subscribe('webhooks', sending.poll),
        services.notifier.subscribe('deliveries', sending.poll),
      ];
      reading.start();
      sending.poll();
    },
    async stop() {
      isOver = true;
      for (const unsubscribe of unsubscribes) unsubscribe();
      await Promise.all([reading.stop(), sending.stop()]);
    },
  };
}

function createSending(services: Services, isStopped: () => boolean) {
  const sender = createWebhookSender({ allowPrivate: services.isPrivateWebhookAllowed });
  /** Number of deliveries under way of each endpoint and of each organization. */
  const [endpoints, organizations] = [createCount(), createCount()];
  const inFlightCounts = { endpoints: endpoints.of, organizations: organizations.of };
  const work = createClaimedWork<ClaimedDelivery>({
    maxInFlight,
    now: services.now,
    isStopped,
    claim: (room) => claimDeliveries(services, inFlightCounts, room),
    nextDueAt: () => nextDueAt(services, inFlightCounts),
    onClaimFailed: (err) => services.log.warn({ err }, 'Webhook deliveries could not be checked.'),
    async run(delivery) {
      endpoints.add(delivery.endpointId, 1);
      organizations.add(delivery.organizationId, 1);
      try {
        await deliver(services, sender, delivery, isStopped);
      } catch (error) {
        services.log.error({ err: error, deliveryId: delivery.id }, 'A webhook could not be sent.');
      } finally {
        endpoints.add(delivery.endpointId, -1);
        organizations.add(delivery.organizationId, -1);
      }
    },
  });
  return { poll: work.poll, stop: () => work.stop(() => sender.close()) };
}
