import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { call, type TestApp } from './app.ts';

/** The header that the console sends with every request. */
export const fromConsole = { 'switchyard-client': 'console' };

/** The two halves of a browser's sign-in, as request headers. A test omits one to see what the other one allows. */
export interface Halves {
  readonly cookie: string;
  readonly 'switchyard-page-secret'?: string;
}

/** Sends a request like a page of the console, from the service's own origin. */
export function send(
  test: Pick<TestApp, 'url'>,
  method: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  path = '/console/session',
): ReturnType<typeof call> {
  return call(test, null, method, path, body, { origin: test.url, ...fromConsole, ...headers });
}

/** Returns both halves of a sign-in with a token or a link. `headers`: additional headers, such as those of the previous sign-in. */
export async function signIn(
  test: Pick<TestApp, 'url'>,
  credential: string | { readonly link: string | null; readonly attempt?: string },
  headers: Readonly<Record<string, string>> = {},
): Promise<Required<Halves>> {
  const body = typeof credential === 'string' ? { token: credential } : credential;
  const answer = await send(test, 'POST', body, headers);
  const [cookie] = answer.headers.getSetCookie();
  if (answer.status !== 200 || !cookie) throw new Error(`Signing in answered ${answer.status}.`);
  return { cookie: cookie.split(';')[0] as string, 'switchyard-page-secret': answer.body.pageSecret };
}

/** Sends a GraphQL request like a page of the console. */
export async function ask(
  test: Pick<TestApp, 'url'>,
  halves: Halves,
  query: string,
  headers: Readonly<Record<string, string>> = {},
  variables: Readonly<Record<string, unknown>> = {},
): Promise<{ status: number; data: any; errors: any[] | undefined }> {
  const sent = { origin: test.url, ...halves, ...fromConsole, ...headers };
  const { status, body } = await call(test, null, 'POST', '/graphql', { query, variables }, sent);
  return { status, data: body?.data, errors: body?.errors };
}

/** Opens a socket like a page of an origin, with the halves of a sign-in and no token. */
export async function openSocket(test: Pick<TestApp, 'url'>, halves: Halves, origin: string | null) {
  const { cookie, 'switchyard-page-secret': pageSecret } = halves;
  const headers = { cookie, ...(origin === null ? {} : { origin }) };
  const socket = new WebSocket(`${test.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', { headers });
  onTestFinished(() => socket.terminate());
  await once(socket, 'open');
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  const acknowledged = new Promise<'in'>((resolve) => socket.once('message', () => resolve('in')));
  socket.send(JSON.stringify({ type: 'connection_init', payload: pageSecret === undefined ? {} : { pageSecret } }));
  return { socket, closed, first: await Promise.race([acknowledged, closed]) };
}
