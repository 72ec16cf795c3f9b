import type { Services } from '../domain/context.ts';
import { type FeedReading, tailFeeds } from '../domain/feeds/tail-feeds.ts';
import { repeated, type Scheduled } from './retention.ts';

/** Maximum delay in ms of a change whose notification was missed. */
const checkMs = 5_000;

/** A {@link FeedReading}, and what it is for. */
export interface FeedJob extends Omit<FeedReading, 'onError'> {
  /** Notified when other organizations have work for the consumer. */
  readonly topic: 'webhooks' | 'automations';
  /** For the log: "… could not be read for webhooks". */
  readonly purpose: string;
}

/** Reads the feeds of a consumer after notifications. Any number of processes may do it. */
export function createFeedReading(services: Services, { consumer, topic, purpose, read }: FeedJob): Scheduled {
  const onError = (error: unknown) =>
    services.log.warn({ err: error }, `The changes of sessions could not be read for ${purpose}.`);
  const feeds = tailFeeds(services, { consumer, read, onError });
  const refresh = () => feeds.refresh().catch(onError);
  const check = repeated(checkMs, refresh);
  let unsubscribe: () => void = () => undefined;
  return {
    start() {
      unsubscribe = services.notifier.subscribe(topic, () => void refresh());
      check.start();
    },
    async stop() {
      unsubscribe();
      await Promise.all([check.stop(), feeds.stop()]);
    },
  };
}
