import type { Services } from '../domain/context.ts';
import { type ClaimedDelivery, claimDeliveries, nextDueAt } from '../domain/webhooks/claim-deliveries.ts';
import { collectEvents } from '../domain/webhooks/collect-events.ts';
import { deliver } from '../domain/webhooks/deliver.ts';
import { type FeedPlace, listFeeds } from '../domain/webhooks/feeds.ts';
import { createWebhookSender } from '../domain/webhooks/send-webhook.ts';
import { repeated, type Scheduled } from './retention.ts';

/** How often what a lost ring was for is looked for. */
const catchUpMs = 5_000;
/** What one process sends at once. */
const mostInFlight = 64;
/** The longest that the next delivery is slept for: another process' may be due earlier. */
const mostSleepMs = 30_000;

/**
 * Tells the endpoints of organizations what happens in their sessions: reads the logs as the bell says, and sends what is due.
 * Any number of processes may do it at once.
 */
export function createWebhooks(services: Services): Scheduled {
  let isOver = false;
  const isStopped = () => isOver;
  const sending = createSending(services, isStopped);
  const reading = createReading(services, isStopped);
  const look = repeated(catchUpMs, () => reading.lookAtAll().catch(warn(services, 'changes of sessions')));
  let silences: (() => void)[] = [];
  return {
    start() {
      const lookAgain = () => {
        reading.lookAtAll().catch(warn(services, 'changes of sessions'));
        // What waited for an endpoint to be enabled is due at once.
        sending.look();
      };
      silences = [services.bell.on('webhooks', lookAgain), services.bell.on('deliveries', sending.look)];
      look.start();
      sending.look();
    },
    async stop() {
      isOver = true;
      for (const silence of silences) silence();
      await look.stop();
      await Promise.all([reading.stop(), sending.stop()]);
    },
  };
}

const warn = (services: Services, what: string) => (error: unknown) =>
  services.log.warn({ err: error }, `The ${what} could not be looked through for webhooks.`);

function createReading(services: Services, isStopped: () => boolean) {
  const followed = new Map<string, () => void>();
  const rung = new Set<string>();
  let running: Promise<void> | null = null;
  const readAll = async () => {
    for (;;) {
      const [organizationId] = rung;
      if (organizationId === undefined || isStopped()) return;
      // Before it is read: a ring during the reading must cause another.
      rung.delete(organizationId);
      let next: FeedPlace | null = null;
      do {
        ({ next } = await collectEvents(services, organizationId, next));
      } while (next !== null && !isStopped());
    }
  };
  const read = () => {
    if (isStopped()) return;
    running ??= readAll()
      .catch(warn(services, 'changes of sessions'))
      .finally(() => {
        running = null;
        if (rung.size > 0) read();
      });
  };
  const ring = (organizationId: string) => {
    rung.add(organizationId);
    read();
  };
  return {
    /** Follows every organization that wants to hear, and no other; reads those that have changed. */
    async lookAtAll() {
      if (isStopped()) return;
      const feeds = await listFeeds(services);
      if (isStopped()) return;
      const wanted = new Set(feeds.map(({ organizationId }) => organizationId));
      for (const [id, silence] of followed) {
        if (wanted.has(id)) continue;
        silence();
        followed.delete(id);
      }
      for (const { organizationId: id, isBehind } of feeds) {
        if (!followed.has(id))
          followed.set(
            id,
            services.bell.on(`organization:${id}`, () => ring(id)),
          );
        if (isBehind) ring(id);
      }
    },
    async stop() {
      for (const silence of followed.values()) silence();
      followed.clear();
      await running;
    },
  };
}

function createSending(services: Services, isStopped: () => boolean) {
  const sender = createWebhookSender({ allowPrivate: services.isPrivateWebhookAllowed });
  /** What is being sent, by its endpoint. */
  const busy = new Map<string, Promise<void>>();
  let inFlight = 0;
  let timer: NodeJS.Timeout | null = null;
  let isAgain = false;
  let running: Promise<void> | null = null;

  const send = (endpointId: string, batch: readonly ClaimedDelivery[]) => {
    inFlight += batch.length;
    const each = batch.map((delivery) =>
      deliver(services, sender, delivery, isStopped).catch((error: unknown) =>
        services.log.error({ err: error, deliveryId: delivery.id }, 'A webhook could not be sent.'),
      ),
    );
    const sent = Promise.all(each).then(() => {
      inFlight -= batch.length;
      busy.delete(endpointId);
      look();
    });
    busy.set(endpointId, sent);
  };
  const claim = async () => {
    while (isAgain && !isStopped()) {
      isAgain = false;
      const room = mostInFlight - inFlight;
      // Whatever ends next looks again.
      if (room <= 0) return;
      const claimed = await claimDeliveries(services, [...busy.keys()], room);
      for (const [endpointId, batch] of byEndpoint(claimed)) send(endpointId, batch);
      if (claimed.length > 0) isAgain = true;
    }
    if (!isStopped()) await sleep();
  };
  const sleep = async () => {
    const dueAt = await nextDueAt(services, [...busy.keys()]);
    const waitMs = dueAt === null ? mostSleepMs : dueAt.getTime() - services.now().getTime();
    if (timer) clearTimeout(timer);
    timer = isStopped() ? null : setTimeout(look, Math.max(10, Math.min(mostSleepMs, waitMs))).unref();
  };
  const look = () => {
    isAgain = true;
    if (isStopped()) return;
    running ??= claim()
      .catch((error: unknown) => {
        warn(services, 'deliveries')(error);
        isAgain = false;
        if (timer) clearTimeout(timer);
        timer = isStopped() ? null : setTimeout(look, catchUpMs).unref();
      })
      .finally(() => {
        running = null;
        if (isAgain) look();
      });
  };
  return {
    look,
    async stop() {
      await running;
      if (timer) clearTimeout(timer);
      await sender.close();
      await Promise.all(busy.values());
    },
  };
}

function byEndpoint(claimed: readonly ClaimedDelivery[]): Map<string, ClaimedDelivery[]> {
  const groups = new Map<string, ClaimedDelivery[]>();
  for (const delivery of claimed) {
    const group = groups.get(delivery.endpointId);
    if (group) group.push(delivery);
    else groups.set(delivery.endpointId, [delivery]);
  }
  return groups;
}
