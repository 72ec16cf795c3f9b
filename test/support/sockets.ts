import { type Client, createClient, type SubscribePayload } from 'graphql-ws';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';

/** The payloads of a subscription, received without sleeping. */
export interface Following<T> {
  /** Resolves with the next `count` payloads. Rejects with the reason if the subscription ended before. */
  take(count: number): Promise<T[]>;
  /** Resolves when the operation ends: `complete`, or the reason for which the socket closed. */
  readonly ended: Promise<unknown>;
  /** The errors with which it ended, either before it began (an `error` message) or as its only payload. */
  errors(): Promise<{ message: string; extensions?: { code?: string } }[]>;
  stop(): void;
}

/** Opens a socket that does not reconnect, so that tests notice a lost connection. */
export function connect(url: string, token: string | null, authorization = `Bearer ${token}`): Client {
  const client = createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    lazy: true,
    ...(token === null ? {} : { connectionParams: { authorization } }),
  });
  onTestFinished(async () => {
    await client.dispose();
  });
  return client;
}

/** Subscribes; buffers every payload until it is taken. */
export function follow<T = any>(client: Client, query: string, variables: Record<string, unknown>): Following<T> {
  return followOperation<T>(client, { query, variables });
}

/** Subscribes to an operation that may also send other messages. */
export function followOperation<T = any>(client: Client, operation: object): Following<T> {
  const payloads: T[] = [];
  let wake: () => void = () => undefined;
  let end: { reason: unknown } | null = null;
  let stop: () => void = () => undefined;
  const ended = new Promise<unknown>((resolve) => {
    const finish = (reason: unknown) => {
      end ??= { reason };
      wake();
      resolve(reason);
    };
    stop = client.subscribe<T>(operation as SubscribePayload, {
      next: (payload) => {
        payloads.push(payload as T);
        wake();
      },
      error: finish,
      complete: () => finish('complete'),
    });
  });
  return {
    ended,
    stop: () => stop(),
    async errors() {
      const reason = await ended;
      return Array.isArray(reason) ? reason : ((payloads[0] as { errors?: [] } | undefined)?.errors ?? []);
    },
    async take(count) {
      while (payloads.length < count) {
        if (end) throw new Error(`The subscription ended: ${JSON.stringify((end as { reason: unknown }).reason)}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return payloads.splice(0, count);
    },
  };
}

/** Opens a plain WebSocket for tests of the protocol itself. */
export function rawSocket(url: string): WebSocket {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  onTestFinished(() => socket.terminate());
  return socket;
}
