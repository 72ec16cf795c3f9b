import { onTestFinished } from 'vitest';

/** An operation whose results arrive as server-sent events. */
export interface EventStream {
  readonly response: Response;
  /** Resolves with the payloads of the next `count` `next` events. Rejects when the stream ends before. */
  take(count: number): Promise<any[]>;
  /** Resolves with the remaining payloads when the stream has ended. */
  rest(): Promise<any[]>;
  /** Closes the connection like a client that leaves. */
  abort(): void;
}

/** Sends an operation and requests server-sent events (distinct connections mode of graphql-sse). */
export async function openStream(
  url: string,
  token: string,
  query: string,
  variables: Record<string, unknown>,
  headers: Readonly<Record<string, string>> = {},
): Promise<EventStream> {
  const aborting = new AbortController();
  onTestFinished(() => aborting.abort());
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'text/event-stream',
      ...headers,
    },
    body: JSON.stringify({ query, variables }),
    signal: aborting.signal,
  });
  const payloads = readPayloads(response);
  return {
    response,
    async take(count) {
      const taken: any[] = [];
      while (taken.length < count) {
        const { done, value } = await payloads.next();
        if (done) throw new Error(`The stream ended after ${taken.length} of ${count} events.`);
        taken.push(value);
      }
      return taken;
    },
    async rest() {
      const left: any[] = [];
      for await (const payload of payloads) left.push(payload);
      return left;
    },
    abort: () => aborting.abort(),
  };
}

async function* readPayloads(response: Response): AsyncGenerator<any> {
  let text = '';
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += new TextDecoder().decode(chunk);
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const event = text.slice(0, end);
      text = text.slice(end + 2);
      if (/^event: complete$/m.test(event)) return;
      const data = /^data: (.+)$/m.exec(event)?.[1];
      if (/^event: next$/m.test(event) && data) yield JSON.parse(data);
    }
  }
}
