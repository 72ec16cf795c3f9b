import { call, type TestApp } from './app.ts';
import { type Reservation, reserve } from './single-connection.ts';
import { connect, followOperation } from './sockets.ts';

/** The text of an operation, or the name of a trusted document. */
export interface SentOperation {
  readonly query?: string;
  readonly variables?: Record<string, unknown>;
  readonly [name: string]: unknown;
}

/** The single result of an operation that is not a subscription, over any transport. */
export interface SentResult {
  readonly data?: any;
  readonly errors?: { readonly message: string; readonly extensions?: any }[];
  readonly extensions?: any;
}

type Send = (test: Pick<TestApp, 'url'>, token: string, operation: SentOperation) => Promise<SentResult>;

const inAddress = (operation: SentOperation) =>
  new URLSearchParams(
    Object.entries(operation).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]) as [string, string][],
  );

async function readStream(url: string, token: string, init: RequestInit): Promise<SentResult> {
  const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream', ...init.headers };
  const response = await fetch(url, { ...init, headers });
  const text = await response.text();
  const data = /^event: next\n(?:id: .*\n)?data: (.+)$/m.exec(text)?.[1];
  return JSON.parse(data ?? text);
}

const json = (operation: SentOperation) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(operation),
});

/** All transports; each returns the operation's result, or the errors with which it was refused. */
export const transports = {
  POST: async (test, token, operation) => (await call(test, token, 'POST', '/graphql', operation)).body,
  GET: async (test, token, operation) => (await call(test, token, 'GET', `/graphql?${inAddress(operation)}`)).body,
  'server-sent events by POST': (test, token, operation) => readStream(`${test.url}/graphql`, token, json(operation)),
  'server-sent events by GET': (test, token, operation) =>
    readStream(`${test.url}/graphql?${inAddress(operation)}`, token, {}),
  WebSocket: async (test, token, operation) => {
    const client = connect(test.url, token);
    // The client requires a text; the service does not.
    const following = followOperation(client, { query: '', ...operation });
    const reason = await following.ended;
    if (Array.isArray(reason)) return { errors: reason };
    if (reason !== 'complete') throw reason;
    return (await following.take(1))[0];
  },
  'a single connection': async (test, token, operation) => {
    const reservation: Reservation = await reserve(test, token);
    return (await reservation.refused({ ...operation })) ?? (await reservation.next());
  },
} as const satisfies Record<string, Send>;

/** The name of one of {@link transports}. */
export type Transport = keyof typeof transports;

/** The names of all transports. */
export const transportNames = Object.keys(transports) as Transport[];
