import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { Bell } from './bell.ts';
import { createLocalBell } from './local-bell.ts';
import type { Topic } from './topics.ts';

const channel = 'switchyard';
/** Rings after the first within this time leave together. */
const batchMs = 20;
/** NOTIFY refuses 8,000 bytes and more. */
const mostPayloadBytes = 7_900;
const reconnectMs = { first: 100, most: 5_000 };

/** What a PostgreSQL bell needs. */
export interface PostgresBellOptions {
  /** For LISTEN: a direct connection (a pooler in transaction mode would swallow it). */
  readonly databaseUrl: string;
  /** Sends; rejections are logged, since a ring may be lost. */
  readonly notify: (channel: string, payload: string) => Promise<unknown>;
  readonly onError: (error: unknown, message: string) => void;
}

/**
 * A bell that reaches every process on the database. Listeners in this process are called at once; to the others goes a
 * NOTIFY, the first ring at once, those close behind it in one batch. After a lost connection every listener is rung, as
 * nobody can know what was missed.
 */
export function createPostgresBell(options: PostgresBellOptions): Bell {
  const local = createLocalBell((error) => options.onError(error, 'A listener of the bell failed.'));
  const node = randomUUID().slice(0, 8);
  let waiting = new Set<Topic>();
  let timer: NodeJS.Timeout | null = null;
  let client: pg.Client | null = null;
  let isStopped = false;
  const sending = new Set<Promise<unknown>>();

  const send = (topics: Iterable<Topic>) => {
    for (const payload of payloads(node, topics)) {
      const sent = options.notify(channel, payload).catch((error: unknown) => options.onError(error, 'A ring could not be sent.'));
      sending.add(sent);
      void sent.finally(() => sending.delete(sent));
    }
  };
  const flush = () => {
    timer = null;
    if (waiting.size === 0) return;
    const topics = waiting;
    waiting = new Set();
    send(topics);
    timer = setTimeout(flush, batchMs).unref();
  };

  const connect = async (delayMs: number): Promise<void> => {
    if (isStopped) return;
    const next = new pg.Client({ connectionString: options.databaseUrl, application_name: 'switchyard bell', keepAlive: true });
    let isOver = false;
    const again = (error: unknown) => {
      if (isOver || isStopped) return;
      isOver = true;
      options.onError(error, 'The connection of the bell ended; it is made again.');
      next.end().catch(() => undefined);
      setTimeout(() => void connect(Math.min(delayMs * 2, reconnectMs.most)), delayMs).unref();
    };
    next.on('error', again);
    next.on('end', () => again(new Error('The server closed the connection.')));
    next.on('notification', ({ payload }) => {
      const [from, ...topics] = (payload ?? '').split(' ');
      if (from !== node) for (const topic of topics) local.ring(topic as Topic);
    });
    try {
      await next.connect();
      await next.query(`listen ${channel}`);
      client = next;
      local.ringAll();
    } catch (error) {
      again(error);
    }
  };

  return {
    on: local.on,
    listenerCount: local.listenerCount,
    ring(topic) {
      local.ring(topic);
      if (isStopped) return;
      if (topic === 'keys') return send([topic]);
      if (timer === null) {
        send([topic]);
        timer = setTimeout(flush, batchMs).unref();
        return;
      }
      waiting.add(topic);
    },
    start: () => connect(reconnectMs.first),
    async stop() {
      isStopped = true;
      if (timer) clearTimeout(timer);
      if (waiting.size > 0) send(waiting);
      await Promise.all(sending);
      await client?.end();
    },
  };
}

function* payloads(node: string, topics: Iterable<Topic>): Generator<string> {
  let payload = node;
  for (const topic of topics) {
    if (payload.length + topic.length + 1 > mostPayloadBytes) {
      yield payload;
      payload = node;
    }
    payload += ` ${topic}`;
  }
  if (payload !== node) yield payload;
}
