import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { TestApp } from './app.ts';
import { multipart } from './uploads.ts';

const viewerQuery = '{ viewer { permissions } }';
const subscription = 'subscription { sessionChanges { __typename } }';
const file = multipart([{ disposition: 'name="file"; filename="a.txt"', content: 'x' }]);
const multipartType = 'multipart/form-data; boundary=switchyard-test-boundary';

/** The parts of the service that an attacker tries; `attachment`: the path of a stored file. */
export interface Target {
  readonly test: Pick<TestApp, 'url'>;
  readonly attachment: string;
  readonly organizationId: string;
}

/**
 * Sends headers, such as a stolen cookie, to every URL that authenticates callers, including the console's pages, from a program
 * that can set any header. Returns each result by name: a status, or a socket's close code.
 */
export async function tryEverywhere(
  { test, attachment, organizationId }: Target,
  stolen: Readonly<Record<string, string>>,
): Promise<Record<string, number>> {
  const { url } = test;
  const headers = { origin: url, 'switchyard-client': 'console', ...stolen };
  const json = { ...headers, 'content-type': 'application/json' };
  const events = { accept: 'text/event-stream' };
  const toBody = (query: string) => JSON.stringify({ query });
  const queried = (query: string) => `${url}/graphql?query=${encodeURIComponent(query)}`;
  const uploaded = { method: 'POST', headers: { ...headers, 'content-type': multipartType }, body: file };
  const requests: Record<string, () => Promise<Response>> = {
    'GraphQL by POST': () => fetch(`${url}/graphql`, { method: 'POST', headers: json, body: toBody(viewerQuery) }),
    'GraphQL by GET': () => fetch(queried(viewerQuery), { headers }),
    'events by POST': () =>
      fetch(`${url}/graphql`, { method: 'POST', headers: { ...json, ...events }, body: toBody(subscription) }),
    'events by GET': () => fetch(queried(subscription), { headers: { ...headers, ...events } }),
    'events at /graphql/stream': () =>
      fetch(`${url}/graphql/stream`, { method: 'POST', headers: { ...json, ...events }, body: toBody(subscription) }),
    'a single connection': () => fetch(`${url}/graphql/stream`, { method: 'PUT', headers }),
    'REST v1': () => fetch(`${url}/v1/sessions`, { headers }),
    'REST v2': () => fetch(`${url}/v2/enterprise/organizations`, { headers }),
    'REST v3': () => fetch(`${url}/v3/self`, { headers }),
    'a download': () => fetch(url + attachment, { headers }),
    'a download by v1': () => fetch(`${url}/v1${attachment}`, { headers, redirect: 'manual' }),
    'an upload by v1': () => fetch(`${url}/v1/attachments`, uploaded),
    'an upload by v3': () => fetch(`${url}/v3/organizations/org-${organizationId}/attachments`, uploaded),
    'the confirmation': () =>
      fetch(`${url}/console/session/confirmation`, { method: 'POST', headers: json, body: '{"token":"cog_unknown"}' }),
    'the sign-out': () => fetch(`${url}/console/session`, { method: 'DELETE', headers }),
  };
  const answers: Record<string, number> = {};
  for (const [name, send] of Object.entries(requests)) {
    const response = await send();
    answers[name] = response.status;
    await response.body?.cancel();
  }
  return { ...answers, 'a WebSocket': await trySocket(url, headers, stolen['switchyard-page-secret']) };
}

async function trySocket(url: string, headers: Record<string, string>, pageSecret: string | undefined) {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', { headers });
  await once(socket, 'open');
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  const acknowledged = new Promise<number>((resolve) => socket.once('message', () => resolve(101)));
  socket.send(JSON.stringify({ type: 'connection_init', payload: { pageSecret } }));
  const first = await Promise.race([acknowledged, closed]);
  socket.terminate();
  return first;
}

/** The results of {@link tryEverywhere} for an unauthenticated caller. */
export const refusedEverywhere = {
  'GraphQL by POST': 401,
  'GraphQL by GET': 401,
  'events by POST': 401,
  'events by GET': 401,
  'events at /graphql/stream': 401,
  'a single connection': 401,
  'REST v1': 401,
  'REST v2': 401,
  'REST v3': 401,
  'a download': 401,
  'a download by v1': 401,
  'an upload by v1': 401,
  'an upload by v3': 401,
  'the confirmation': 401,
  'the sign-out': 401,
  'a WebSocket': 4403,
};
