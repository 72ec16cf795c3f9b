import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';

/** An answer, read to its end. */
export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

const agent = new Agent({ keepAlive: true });

/**
 * Sends one request, whose body is JSON when there is any, and reads the answer. Redirects are not followed, and nothing is
 * compressed. Tests send tens of thousands of requests, of which `fetch` takes more CPU than the service does for many.
 */
export async function exchangeJson(
  url: string,
  method: string,
  requestHeaders: Readonly<Record<string, string>>,
  body?: unknown,
): Promise<HttpAnswer> {
  const payload = body === undefined ? null : JSON.stringify(body);
  // Said for every method: Node says it by itself for some only.
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
