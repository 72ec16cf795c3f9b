import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { followChannels } from './followed-channels.ts';

/** Delays before a lost connection is opened again, doubled each time. */
const reconnectMs = { first: 100, max: 5_000 } as const;
/**
 * Interval and timeout of the queries that detect a dead connection (a pulled cable, a firewall that drops its state).
 */
const probe = { everyMs: 15_000, timeoutMs: 10_000 } as const;

/** The channels to listen to at first, and the callbacks. */
export interface PostgresListenerOptions {
  /** A direct connection: a pooler in transaction mode would swallow LISTEN. */
  readonly databaseUrl: string;
  readonly channels: readonly string[];
  /** The name of the connection for operators of the database. */
  readonly applicationName: string;
  readonly onPayload: (payload: string, channel: string) => void;
  /** Called with channels that are listened to from now on, also after each reconnection: notifications from before are lost. */
  readonly onListening: (channels: readonly string[]) => void;
  readonly onError: (error: unknown, message: string) => void;
}

/** A connection with LISTEN that reconnects by itself. */
export interface PostgresListener {
  /** Adds a channel. */
  listen(channel: string): void;
  /** Removes a channel. */
  unlisten(channel: string): void;
  /** Resolves when the first attempt has succeeded or failed; after a failure it tries again. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Keeps its own connection that listens to channels. */
export function createPostgresListener(options: PostgresListenerOptions): PostgresListener {
  let isStopped = false;
  let reportStop: (() => void) | undefined;
  const stopped = new Promise<void>((resolve) => {
    reportStop = resolve;
  });
  let failures = 0;
  let update = () => {};
  let client: pg.Client | null = null;
  const wanted = new Set(options.channels);
  let retry: NodeJS.Timeout | null = null;
  /** The connections that are being closed. */
  const closing = new Set<Promise<void>>();

  const end = (last: pg.Client) => {
    const closed = close(last).finally(() => closing.delete(closed));
    closing.add(closed);
  };

  const scheduleRetry = () => {
    const waitMs = Math.min(reconnectMs.first * 2 ** failures, reconnectMs.max);
    failures += 1;
    retry = setTimeout(() => void connect(), waitMs).unref();
  };

  const connect = async (): Promise<void> => {
    if (isStopped) return;
    const next = openClient(options);
    client = next;
    const onLost = (error: unknown) => {
      if (client !== next) return;
      client = null;
      update = () => {};
      end(next);
      if (isStopped) return;
      options.onError(error, 'The connection for notifications closed. It will be reopened.');
      scheduleRetry();
    };
    next.on('error', onLost);
    next.on('end', () => onLost(new Error('The server closed the connection.')));
    next.on('notification', ({ payload, channel }) => options.onPayload(payload ?? '', channel));
    const subscriptions = followChannels(next, { wanted, onListening: options.onListening });
    try {
      await next.connect();
      await subscriptions.update();
    } catch (error) {
      onLost(error);
      return;
    }
    if (client !== next) return;
    failures = 0;
    watch(next, onLost);
    update = () => void subscriptions.update().catch(onLost);
    update();
  };

  return {
    listen(channel) {
      wanted.add(channel);
      update();
    },
    unlisten(channel) {
      wanted.delete(channel);
      update();
    },
    // A client that is closed while it connects never settles its attempt.
    start: () => Promise.race([connect(), stopped]),
    async stop() {
      isStopped = true;
      update = () => {};
      if (retry) clearTimeout(retry);
      const last = client;
      client = null;
      if (last) end(last);
      await Promise.all(closing);
      reportStop?.();
    },
  };
}

function openClient({ databaseUrl, applicationName }: PostgresListenerOptions): pg.Client {
  return new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: probe.timeoutMs,
    'query_timeout': probe.timeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: probe.timeoutMs,
    'application_name': applicationName,
  });
}

/** Sends a query at intervals, until the connection ends. */
function watch(client: pg.Client, onLost: (error: unknown) => void): void {
  const timer = setInterval(() => void client.query('select 1').catch(onLost), probe.everyMs).unref();
  client.on('end', () => clearInterval(timer));
}

/** Ends a connection, and destroys it if the server does not close it within a second. */
async function close(client: pg.Client): Promise<void> {
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  const timeout = delay(1_000, undefined, { ref: false }).then(() => stream.destroy());
  await Promise.race([client.end().catch(() => undefined), timeout]);
}
