import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { call, type TestApp } from './app.ts';

/** What a page of the console says with all it sends. */
export const fromConsole = { 'switchyard-client': 'console' };

/** Sends as a page of the console would, from the service's own origin. */
export function send(
  test: Pick<TestApp, 'url'>,
  method: string,
  body: unknown,
  headers: Record<string, string> = {},
): ReturnType<typeof call> {
  return call(test, null, method, '/console/session', body, { origin: test.url, ...fromConsole, ...headers });
}

/** The cookie, as a browser sends it back, of a sign-in with a token. */
export async function signIn(test: Pick<TestApp, 'url'>, token: string): Promise<string> {
  const { status, headers } = await send(test, 'POST', { token });
  const [cookie] = headers.getSetCookie();
  if (status !== 204 || !cookie) throw new Error(`Signing in answered ${status}.`);
  return cookie.split(';')[0] as string;
}

/** Asks GraphQL as a page of the console would. */
export async function ask(
  test: Pick<TestApp, 'url'>,
  cookie: string,
  query: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; data: any; errors: any[] | undefined }> {
  const sent = { origin: test.url, cookie, ...fromConsole, ...headers };
  const { status, body } = await call(test, null, 'POST', '/graphql', { query }, sent);
  return { status, data: body?.data, errors: body?.errors };
}

/** A socket opened by a page of an origin, with a cookie and no token. */
export async function openSocket(test: Pick<TestApp, 'url'>, cookie: string, origin: string | null) {
  const headers = { cookie, ...(origin === null ? {} : { origin }) };
  const socket = new WebSocket(`${test.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', { headers });
  onTestFinished(() => socket.terminate());
  await once(socket, 'open');
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  const acknowledged = new Promise<'in'>((resolve) => socket.once('message', () => resolve('in')));
  socket.send(JSON.stringify({ type: 'connection_init' }));
  return { socket, closed, first: await Promise.race([acknowledged, closed]) };
}
