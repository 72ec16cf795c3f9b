import type { Services } from '../domain/context.ts';
import { readFeed } from '../domain/feeds/read-feed.ts';
import { type ClaimedDelivery, claimDeliveries, nextDueAt } from '../domain/webhooks/claim-deliveries.ts';
import { webhookEvents } from '../domain/webhooks/collect-events.ts';
import { deliver } from '../domain/webhooks/deliver.ts';
import { createWebhookSender } from '../domain/webhooks/send-webhook.ts';
import { createFeedReading } from './feed-reading.ts';
import type { Scheduled } from './retention.ts';

/** How long it is waited after an error. */
const errorWaitMs = 5_000;
/** What one process sends at once. */
const maxInFlight = 64;
/** The longest that the next delivery is slept for: another process' may be due earlier. */
const maxSleepMs = 30_000;

/**
 * Tells the endpoints of organizations what happens in their sessions: reads the logs as the bell says, and sends what is due.
 * Any number of processes may do it at once.
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
      // What waited for an endpoint to be enabled is due at once.
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
  /** How many deliveries each endpoint, and each organization, has under way. */
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
      // Whatever ends next looks again.
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

/** Counts by names; those of which there are none are forgotten. */
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
