import { randomUUID } from 'node:crypto';
import { createLocalNotifier } from './local-notifier.ts';
import type { Notifier } from './notifier.ts';
import { createPostgresListener } from './postgres-listener.ts';
import type { Topic } from './topics.ts';

const channel = 'switchyard';
/**
 * Notifications within this time after one that was sent are sent together: other processes receive the later ones with
 * this delay.
 */
const batchMs = 5;
/** NOTIFY refuses 8,000 bytes and more. */
const maxPayloadBytes = 7_900;

/** The options of a PostgreSQL notifier. */
export interface PostgresNotifierOptions {
  /** For LISTEN: a direct connection (a pooler in transaction mode would swallow it). */
  readonly databaseUrl: string;
  /** Sends; rejections are logged, since a notification may be missed. */
  readonly notify: (channel: string, payload: string) => Promise<unknown>;
  readonly onError: (error: unknown, message: string) => void;
}

/**
 * Creates a notifier that reaches every process on the database. Listeners in this process are called at once. Other
 * processes get a NOTIFY: one for all notifications of a turn of the event loop, and one for those shortly after it. After
 * a lost connection every listener is called, because notifications may have been missed.
 */
export function createPostgresNotifier(options: PostgresNotifierOptions): Notifier {
  const local = createLocalNotifier((error) => options.onError(error, 'A listener of the notifier failed.'));
  const node = randomUUID().slice(0, 8);
  const sending = new Set<Promise<unknown>>();
  let pendingTopics = new Set<Topic>();
  let timer: NodeJS.Timeout | null = null;
  /** True while the topics of a turn of the event loop are collected. */
  let isScheduled = false;
  let isStopped = false;

  const listener = createPostgresListener({
    databaseUrl: options.databaseUrl,
    channel,
    applicationName: 'switchyard notifier',
    onPayload(payload) {
      const [from, ...topics] = payload.split(' ');
      if (from !== node) for (const topic of topics) local.notify(topic as Topic);
    },
    onListening: () => local.notifyAll(),
    onError: options.onError,
  });

  const send = (topics: Iterable<Topic>) => {
    for (const payload of payloads(node, topics)) {
      const sent = options
        .notify(channel, payload)
        .catch((error: unknown) => options.onError(error, 'A notification could not be sent to other processes.'))
        .finally(() => sending.delete(sent));
      sending.add(sent);
    }
  };
  const flush = () => {
    isScheduled = false;
    timer = null;
    if (pendingTopics.size === 0) return;
    const topics = pendingTopics;
    pendingTopics = new Set();
    send(topics);
    timer = setTimeout(flush, batchMs).unref();
  };

  return {
    subscribe: local.subscribe,
    listenerCount: local.listenerCount,
    notify(topic) {
      local.notify(topic);
      if (isStopped) return;
      if (topic === 'keys') {
        // A revocation is sent without delay.
        send([topic]);
        return;
      }
      pendingTopics.add(topic);
      if (timer !== null || isScheduled) return;
      isScheduled = true;
      setImmediate(flush);
    },
    start: () => listener.start(),
    async stop() {
      isStopped = true;
      if (timer) clearTimeout(timer);
      send(pendingTopics);
      pendingTopics = new Set();
      await Promise.all(sending);
      await listener.stop();
    },
  };
}

function* payloads(node: string, topics: Iterable<Topic>): Generator<string> {
  let payload = node;
  for (const topic of topics) {
    if (Buffer.byteLength(payload) + Buffer.byteLength(topic) + 1 > maxPayloadBytes) {
      yield payload;
      payload = node;
    }
    payload += ` ${topic}`;
  }
  if (payload !== node) yield payload;
}
