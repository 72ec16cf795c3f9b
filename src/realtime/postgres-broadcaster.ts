import type { BroadcastChannel, Broadcaster } from './broadcaster.ts';
import { createLocalBroadcaster, maxMessageBytes } from './local-broadcaster.ts';
import { createMessageCipher } from './message-cipher.ts';
import { createPostgresListener } from './postgres-listener.ts';

const channelName = 'switchyard_live';
/** Minimum time in ms between two transactions that send. */
const flushMs = 25;
/** Maximum size of the messages that wait; the oldest are dropped first. */
const maxWaitingBytes = 1_024 * 1_024;
/** Maximum number of notifications in one transaction. */
const maxNotifications = 32;

/** The options of a PostgreSQL broadcaster. */
export interface PostgresBroadcasterOptions {
  /** For LISTEN: a direct connection (a pooler in transaction mode would swallow it). */
  readonly databaseUrl: string;
  /** Sends notifications in one transaction; rejections are logged, since any message may be lost. */
  readonly notify: (channel: string, payloads: readonly string[]) => Promise<unknown>;
  /** Returns the key with which the messages of a sender are encrypted. */
  readonly keyOf: (sender: string) => Buffer;
  readonly onError: (error: unknown, message: string) => void;
}

/**
 * Creates a broadcaster that reaches every process on the database, with the content of the messages in notifications
 * (docs/decisions/0036-send-drafts-in-notifications.md). Listeners in this process are called at once.
 */
export function createPostgresBroadcaster(options: PostgresBroadcasterOptions): Broadcaster {
  const { onError } = options;
  const local = createLocalBroadcaster((error) => onError(error, 'A listener of the broadcaster failed.'));
  const cipher = createMessageCipher(local.processId, options.keyOf);
  let waiting: { readonly text: string; readonly bytes: number }[] = [];
  let waitingBytes = 0;
  let timer: NodeJS.Timeout | null = null;
  let sending: Promise<unknown> | null = null;
  let isStopped = false;

  const listener = createPostgresListener({
    databaseUrl: options.databaseUrl,
    channels: [channelName],
    applicationName: 'switchyard broadcaster',
    onPayload(payload) {
      // The sender first: the messages of this process were delivered already, and are not decrypted.
      const space = payload.indexOf(' ');
      const sender = payload.slice(0, Math.max(0, space));
      if (sender === '' || sender === local.processId) return;
      const text = cipher.open(sender, payload.slice(space + 1));
      if (text !== null) for (const message of text.split('\n')) local.deliver(message);
    },
    onListening: () => local.notifyGap(),
    onError,
  });

  const takeBatch = (): string[] => {
    const payloads: string[] = [];
    let [lines, bytes, taken]: [string[], number, number] = [[], 0, 0];
    const close = () => {
      if (lines.length > 0) payloads.push(`${local.processId} ${cipher.seal(lines.join('\n'))}`);
      [lines, bytes] = [[], 0];
    };
    for (const message of waiting) {
      if (bytes + message.bytes > maxMessageBytes) close();
      if (payloads.length >= maxNotifications) break;
      lines.push(message.text);
      bytes += message.bytes + 1;
      waitingBytes -= message.bytes;
      taken += 1;
    }
    close();
    waiting = waiting.slice(taken);
    return payloads;
  };
  const flush = () => {
    timer = null;
    if (waiting.length === 0 || sending !== null) return;
    sending = options
      .notify(channelName, takeBatch())
      .catch((error: unknown) => onError(error, 'Messages could not be sent to other processes.'))
      .finally(() => {
        sending = null;
        if (waiting.length > 0 && timer === null && !isStopped) flush();
      });
    timer = setTimeout(flush, flushMs).unref();
  };
  const enqueue = (channel: BroadcastChannel, key: string, payload: string) => {
    const text = `${channel} ${key} ${payload}`;
    const bytes = Buffer.byteLength(text);
    if (bytes > maxMessageBytes || text.includes('\n')) {
      onError(new Error(`A message of ${bytes} bytes was dropped.`), 'A message cannot be sent to other processes.');
      return;
    }
    waiting.push({ text, bytes });
    waitingBytes += bytes;
    let dropped = 0;
    while (waitingBytes > maxWaitingBytes) {
      waitingBytes -= waiting[dropped]?.bytes ?? waitingBytes;
      dropped += 1;
    }
    if (dropped > 0) waiting = waiting.slice(dropped);
    if (timer === null) flush();
  };

  return {
    processId: local.processId,
    maxBytes: maxMessageBytes,
    subscribe: local.subscribe,
    subscribeAll: local.subscribeAll,
    onGap: local.onGap,
    publish(channel, key, payload, isLocal = false) {
      local.publish(channel, key, payload);
      if (!isLocal && !isStopped) enqueue(channel, key, payload);
    },
    start: () => listener.start(),
    async stop() {
      isStopped = true;
      if (timer) clearTimeout(timer);
      await sending;
      // The last messages say that this process has left.
      if (waiting.length > 0) await options.notify(channelName, takeBatch()).catch(() => undefined);
      await listener.stop();
    },
  };
}
