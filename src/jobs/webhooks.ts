import type { Services } from '../domain/context.ts';
import { readFeed } from '../domain/feeds/read-feed.ts';
import { type ClaimedDelivery, claimDeliveries, nextDueAt } from '../domain/webhooks/claim-deliveries.ts';
import { webhookEvents } from '../domain/webhooks/collect-events.ts';
import { deliver } from '../domain/webhooks/deliver.ts';
import { createWebhookSender } from '../domain/webhooks/send-webhook.ts';
import { createFeedReading } from './feed-reading.ts';
import type { Scheduled } from './retention.ts';

/** Wait after an error. */
const errorWaitMs = 5_000;
/** Maximum number of concurrent requests of one process. */
const maxInFlight = 64;
/** Maximum time until the next poll: a delivery of another process may be due earlier. */
const maxSleepMs = 30_000;

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
  const inFlight = new Set<Promise<void>>();
  /** Number of deliveries under way of each endpoint and of each organization. */
  const [endpoints, organizations] = [createCount(), createCount()];
  let timer: NodeJS.Timeout | null = null;
  let isAgain = false;
  let running: Promise<void> | null = null;

  const send = (delivery: ClaimedDelivery) => {
    endpoints.add(delivery.endpointId, 1);
    organizations.add(delivery.organizationId, 1);
    const sent = deliver(services, sender, delivery, isStopped)
      .catch((error: unknown) =>
        services.log.error({ err: error, deliveryId: delivery.id }, 'A webhook could not be sent.'),
      )
      .then(() => {
        inFlight.delete(sent);
        endpoints.add(delivery.endpointId, -1);
        organizations.add(delivery.organizationId, -1);
        poll();
      });
    inFlight.add(sent);
  };
  const inFlightCounts = { endpoints: endpoints.of, organizations: organizations.of };
  const claim = async () => {
    while (isAgain && !isStopped()) {
      isAgain = false;
      const room = maxInFlight - inFlight.size;
      // The next delivery that ends polls again.
      if (room <= 0) return;
      const claimed = await claimDeliveries(services, inFlightCounts, room);
      for (const delivery of claimed) send(delivery);
      if (claimed.length > 0) isAgain = true;
    }
    if (!isStopped()) await sleep();
  };
  const sleep = async () => {
    const dueAt = await nextDueAt(services, inFlightCounts);
    const waitMs = dueAt === null ? maxSleepMs : dueAt.getTime() - services.now().getTime();
    if (timer) clearTimeout(timer);
    timer = isStopped() ? null : setTimeout(poll, Math.max(10, Math.min(maxSleepMs, waitMs))).unref();
  };
  const poll = () => {
    isAgain = true;
    if (isStopped()) return;
    running ??= claim()
      .catch((error: unknown) => {
        services.log.warn({ err: error }, 'The deliveries could not be looked through for webhooks.');
        isAgain = false;
        if (timer) clearTimeout(timer);
        timer = isStopped() ? null : setTimeout(poll, errorWaitMs).unref();
      })
      .finally(() => {
        running = null;
        if (isAgain) poll();
      });
  };
  return {
    poll: poll,
    async stop() {
      await running;
      if (timer) clearTimeout(timer);
      await sender.close();
      await Promise.all(inFlight);
    },
  };
}

/** Creates a counter by name, which removes a name when its count reaches 0. */
function createCount() {
  const of = new Map<string, number>();
  return {
    of: of as ReadonlyMap<string, number>,
    add(name: string, change: number) {
      const count = (of.get(name) ?? 0) + change;
      if (count > 0) of.set(name, count);
      else of.delete(name);
    },
  };
}
