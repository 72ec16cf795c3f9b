import { onTestFinished } from 'vitest';
import { call, type TestApp } from './app.ts';
import type { SentOperation, SentResult } from './transports.ts';

/** A stream of the single connection mode, reserved and open. */
export interface Reservation {
  readonly token: string;
  readonly response: Response;
  /** Starts an operation; returns null if it was accepted, or the body of the refusal. */
  refused(operation: SentOperation, id?: string): Promise<SentResult | null>;
  /** Resolves with the payload of the next `next` event. */
  next(): Promise<any>;
  /** Resolves with the next event and the id of its operation. */
  event(): Promise<{ event: string; id: string; payload?: any }>;
  abort(): void;
}

/** Sends a request with a stream's token. */
export function callStream(
  test: Pick<TestApp, 'url'>,
  token: string,
  stream: string,
  method: string,
  body?: unknown,
  query = '',
) {
  return call(test, token, method, `/graphql/stream${query}`, body, { 'x-graphql-event-stream-token': stream });
}

/** Reserves a stream and opens it. */
export async function reserve(test: Pick<TestApp, 'url'>, key: string): Promise<Reservation> {
  const aborting = new AbortController();
  onTestFinished(() => aborting.abort());
  const address = `${test.url}/graphql/stream`;
  const authorization = `Bearer ${key}`;
  const reserved = await fetch(address, { method: 'PUT', headers: { authorization } });
  const token = await reserved.text();
  if (reserved.status !== 201) throw new Error(`${reserved.status} ${token}`);
  const headers = { authorization, accept: 'text/event-stream', 'x-graphql-event-stream-token': token };
  const response = await fetch(address, { headers, signal: aborting.signal });
  const events = readEvents(response);
  const event = async () => {
    const { done, value } = await events.next();
    if (done) throw new Error('The stream has ended.');
    return value;
  };
  let count = 0;
  return {
    token,
    response,
    event,
    abort: () => aborting.abort(),
    async refused(operation, id = `operation ${count++}`) {
      const extensions = { ...(operation.extensions as object | undefined), operationId: id };
      const { status, body } = await callStream(test, key, token, 'POST', { ...operation, extensions });
      return status === 202 ? null : body;
    },
    async next() {
      for (;;) {
        const { event: name, payload } = await event();
        if (name === 'next') return payload;
      }
    },
  };
}

async function* readEvents(response: Response) {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const [, event, data] = /^event: (\w+)\ndata: (.+)$/m.exec(text.slice(0, end)) ?? [];
      text = text.slice(end + 2);
      if (event && data) yield { event, ...(JSON.parse(data) as { id: string; payload?: any }) };
    }
  }
}
