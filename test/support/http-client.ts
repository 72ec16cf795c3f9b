import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';

/** A complete response. */
export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

const agent = new Agent({ keepAlive: true });

/**
 * Sends one request with an optional JSON body, and reads the response. It follows no redirects and requests no compression.
 * Tests send tens of thousands of requests, for many of which `fetch` needs more CPU than the service.
 */
export async function exchangeJson(
  url: string,
  method: string,
  requestHeaders: Readonly<Record<string, string>>,
  body?: unknown,
): Promise<HttpAnswer> {
  const payload = body === undefined ? null : JSON.stringify(body);
  // Set for every method: Node sets it for some methods only.
  const described =
    payload === null
      ? {}
      : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(payload)) };
  const headers = { accept: '*/*', 'accept-encoding': 'identity', ...described, ...requestHeaders };
  const sent = request(url, { method, headers, agent });
  sent.end(payload ?? undefined);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  answer.setEncoding('utf8');
  let text = '';
  for await (const part of answer) text += part;
  const pairs = answer.rawHeaders.flatMap((name, at, all): [string, string][] =>
    at % 2 === 0 ? [[name, all[at + 1] as string]] : [],
  );
  return { status: answer.statusCode as number, text, headers: new Headers(pairs) };
}
