import { type Client, createClient, type SubscribePayload } from 'graphql-ws';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';

/** Payloads of a subscription, waited for rather than slept for. */
export interface Following<T> {
  /** The next `count` payloads. Rejects with what ended the subscription before they came. */
  take(count: number): Promise<T[]>;
  /** Resolves when the operation ends: `complete`, or what closed the socket. */
  readonly ended: Promise<unknown>;
  /** The errors that it ended with, whether before it began (an `error` message) or as its only payload. */
  errors(): Promise<{ message: string; extensions?: { code?: string } }[]>;
  stop(): void;
}

/** A socket that does not connect again by itself: what is lost is the test's to see. */
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

/** Subscribes; every payload is kept until it is taken. */
export function follow<T = any>(client: Client, query: string, variables: Record<string, unknown>): Following<T> {
  return followOperation<T>(client, { query, variables });
}

/** The same for an operation that may say anything else beside, or instead. */
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

/** Opens a bare WebSocket for tests of the protocol itself. */
export function rawSocket(url: string): WebSocket {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  onTestFinished(() => socket.terminate());
  return socket;
}
