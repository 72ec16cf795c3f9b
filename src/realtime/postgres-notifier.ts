import { randomUUID } from 'node:crypto';
import { createChannelUsers } from './channel-users.ts';
import { channelOf, commonChannel, wildcardOf } from './channels.ts';
import { createLocalNotifier } from './local-notifier.ts';
import type { Notifier } from './notifier.ts';
import { createPostgresListener } from './postgres-listener.ts';
import type { Topic } from './topics.ts';

/**
 * Notifications within this time after one that was sent are sent together: other processes receive the later ones with
 * this delay.
 */
const batchMs = 5;
/** NOTIFY refuses 8,000 bytes and more. */
const maxPayloadBytes = 7_900;
/** The time that a process still listens to a channel after its last listener has left. */
const keepMs = 30_000;

/** A message for the processes that listen to a channel. */
export interface ChannelMessage {
  readonly channel: string;
  readonly payload: string;
}

/** The options of a PostgreSQL notifier. */
export interface PostgresNotifierOptions {
  /** For LISTEN: a direct connection (a pooler in transaction mode would swallow it). */
  readonly databaseUrl: string;
  /** Sends all messages in one statement; rejections are logged, since a notification may be missed. */
  readonly notify: (messages: readonly ChannelMessage[]) => Promise<unknown>;
  readonly onError: (error: unknown, message: string) => void;
}

/**
 * Creates a notifier that reaches every process on the database that has a listener. Listeners in this process are called at once. Other
 * processes get a NOTIFY for each channel: one for all notifications of a turn of the event loop, and one for those shortly after it. A
 * process listens to the channels of its topics. A listener is also called when its channel is new or its connection was lost, because
 * notifications may have been missed.
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
  let received = 0;

  const listener = createPostgresListener({
    databaseUrl: options.databaseUrl,
    channels: [commonChannel],
    applicationName: 'switchyard notifier',
    onPayload(payload, channel) {
      const [from, ...topics] = payload.split(' ');
      if (from === node) return;
      received += 1;
      // The version before sends all topics on the common channel, without their wildcards.
      const deliver = channel === commonChannel ? local.notify : local.deliver;
      for (const topic of topics) deliver(topic as Topic);
    },
    onListening(channels) {
      const added = new Set(channels);
      local.notifyAll((topic) => added.has(channelOf(topic)));
    },
    onError: options.onError,
  });
  const users = createChannelUsers({ onUsed: listener.listen, onUnused: listener.unlisten, keepMs });

  const send = (topics: Iterable<Topic>) => {
    const messages = messagesOf(node, topics);
    if (messages.length === 0) return;
    const sent = options
      .notify(messages)
      .catch((error: unknown) => options.onError(error, 'A notification could not be sent to other processes.'))
      .finally(() => sending.delete(sent));
    sending.add(sent);
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
    subscribe(topic, call) {
      const unsubscribe = local.subscribe(topic, call);
      const channel = channelOf(topic);
      const leave = channel === commonChannel ? () => {} : users.add(channel);
      return () => {
        unsubscribe();
        leave();
      };
    },
    receivedCount: () => received,
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
      users.stop();
      send(pendingTopics);
      pendingTopics = new Set();
      await Promise.all(sending);
      await listener.stop();
    },
  };
}

/** Returns the messages for topics and for their wildcards, by channel. */
function messagesOf(node: string, topics: Iterable<Topic>): ChannelMessage[] {
  const channels = new Map<string, Set<Topic>>();
  for (const topic of topics) {
    for (const each of [topic, wildcardOf(topic)]) {
      if (each === null) continue;
      const channel = channelOf(each);
      channels.set(channel, (channels.get(channel) ?? new Set()).add(each));
    }
  }
  return [...channels].flatMap(([channel, names]) => payloadsOf(node, names).map((payload) => ({ channel, payload })));
}

function payloadsOf(node: string, topics: Iterable<Topic>): string[] {
  const payloads: string[] = [];
  let payload = node;
  for (const topic of topics) {
    if (Buffer.byteLength(payload) + Buffer.byteLength(topic) + 1 > maxPayloadBytes) {
      payloads.push(payload);
      payload = node;
    }
    payload += ` ${topic}`;
  }
  payloads.push(payload);
  return payloads;
}
