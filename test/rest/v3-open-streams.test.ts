import { expect, onTestFinished, test } from 'vitest';
import { openStream } from '../support/event-stream.ts';
import { useApp } from '../support/use-app.ts';
import { call, makeOrganization, makeServiceUser } from './rest-app.ts';

const app = useApp({ maxSockets: 3 });

const messages = 'subscription($id: ID!) { sessionMessages(sessionId: $id) { node { body } } }';
const waitForOpen = (stream: number) =>
  expect.poll(() => app.app.streams.count(), { interval: 5, timeout: 60_000 }).toEqual({ socket: 0, stream });

async function oneSession() {
  const organizationId = await makeOrganization(app);
  const { token } = await makeServiceUser(app, { organizationId, roleId: 'org_admin' });
  const sessions = `/v3/organizations/org-${organizationId}/sessions`;
  const id: string = (await call(app, token, 'POST', sessions, { prompt: 'first' })).body.session_id;
  return { organizationId, id, token, path: `${sessions}/${id}/messages` };
}

async function open(path: string, token: string, method = 'GET') {
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' };
  const response = await fetch(app.url + path, { method, headers, signal: leaving.signal });
  return { response, leave: () => leaving.abort() };
}

test('streams of messages are counted for each principal, together with those of GraphQL', async () => {
  await waitForOpen(0);
  const { organizationId, id, token, path } = await oneSession();
  const one = await open(path, token);
  const two = await open(path, token);
  const three = await openStream(app.url, token, messages, { id });
  await three.take(1);
  expect([one.response.status, two.response.status, three.response.status]).toEqual([200, 200, 200]);
  await waitForOpen(3);

  const { response } = await open(path, token);
  expect(response.status).toBe(429);
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(await response.json()).toMatchObject({
    status: 429,
    detail: 'At most 3 sockets and streams may be open at once: close one first.',
  });
  const byGraphql = await openStream(app.url, token, messages, { id });
  expect(byGraphql.response.status).toBe(429);
  await byGraphql.response.body?.cancel();
  expect((await open(path, token, 'HEAD')).response.status).toBe(429);
  await waitForOpen(3);
  // Requests that open no stream continue to work, and so do other principals.
  expect((await call(app, token, 'GET', path)).status).toBe(200);
  const { token: another } = await makeServiceUser(app, { organizationId, roleId: 'org_admin' });
  const other = await open(path, another);
  expect(other.response.status).toBe(200);
  other.leave();

  // Every way of disconnecting frees the slot, and requests without a stream take none.
  one.leave();
  await waitForOpen(2);
  const again = await open(path, token);
  expect(again.response.status).toBe(200);
  await waitForOpen(3);
  three.abort();
  two.leave();
  again.leave();
  await waitForOpen(0);
});

test('refusals and HEAD free their slots', async () => {
  await waitForOpen(0);
  const { path, token } = await oneSession();
  for (let n = 0; n < 4; n++) {
    expect((await open(`${path}?after=nonsense`, token)).response.status).toBe(422);
    expect((await open(path, token, 'HEAD')).response.status).toBe(200);
  }
  expect(app.app.streams.count()).toEqual({ socket: 0, stream: 0 });
});
