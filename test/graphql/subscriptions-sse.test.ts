import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { openStream } from '../support/event-stream.ts';
import { createSession, makeOrganization, say } from '../support/sessions.ts';

let test: TestApp;
beforeAll(async () => {
  // In tests, yoga pings every 300 ms instead of every 12 s, which would hide a lost client that only the ping detects.
  vi.stubEnv('NODE_ENV', 'production');
  test = await startApp();
});
afterAll(async () => {
  await test.close();
  vi.unstubAllEnvs();
});

const messages =
  'subscription($id: ID!, $after: String) { sessionMessages(sessionId: $id, after: $after) { cursor node { body } } }';
const open = (variables: Record<string, unknown>, query = messages) =>
  openStream(test.url, test.adminToken, query, variables);
const bodies = (payloads: any[]) => payloads.map((payload) => payload.data.sessionMessages.node.body);
const waitForActive = (count: number) =>
  expect.poll(() => test.app.watches.active(), { interval: 5, timeout: 60_000 }).toBe(count);

it('sends existing entries, then new ones, each once and in order', async () => {
  const id = await createSession(test);
  const stream = await open({ id });
  expect(stream.response.headers.get('content-type')).toContain('text/event-stream');
  expect(bodies(await stream.take(1))).toEqual(['say hello']);
  await say(test, id, 'one', 'two');
  await say(test, id, 'three');
  expect(bodies(await stream.take(3))).toEqual(['one', 'two', 'three']);
});

it('resumes after the cursor of the last event, 20 times', async () => {
  const id = await createSession(test);
  const words = Array.from({ length: 20 }, (_, n) => `m${n}`);
  const writing = (async () => {
    for (const word of words) await say(test, id, word);
  })();
  const received: string[] = [];
  let after: string | undefined;
  for (let n = 0; n < 21; n++) {
    const stream = await open({ id, after });
    const [payload] = await stream.take(1);
    received.push(payload.data.sessionMessages.node.body);
    after = payload.data.sessionMessages.cursor;
    stream.abort();
  }
  await writing;
  expect(received.slice(1)).toEqual(words);
});

it('reads a log of several batches without loss or repeat', async () => {
  const id = await createSession(test);
  const words = Array.from({ length: 250 }, (_, n) => `m${n}`);
  await say(test, id, ...words);
  expect(bodies(await (await open({ id })).take(251)).slice(1)).toEqual(words);
});

it('sends the complete log and the session alike', async () => {
  const id = await createSession(test);
  const events = await open(
    { id },
    'subscription($id: ID!) { sessionEvents(sessionId: $id) { node { seq kind __typename } } }',
  );
  expect((await events.take(2)).map((payload) => payload.data.sessionEvents.node)).toEqual([
    { seq: 1, kind: 'STATUS', __typename: 'StatusEvent' },
    { seq: 2, kind: 'MESSAGE', __typename: 'SessionMessage' },
  ]);
  const updated = await open({ id }, 'subscription($id: ID!) { sessionUpdated(sessionId: $id) { title status } }');
  expect(await updated.take(1)).toEqual([{ data: { sessionUpdated: { title: 'say hello', status: 'NEW' } } }]);
});

it.each([
  ['a syntax error', '{', {}, 'Syntax Error'],
  ['an unknown field', 'subscription { nothing }', {}, 'Cannot query field'],
  ['an unknown session', messages, { id: `devin-${'0'.repeat(32)}` }, 'There is no such session'],
])('ends with the error of %s', async (_what, query, variables, message) => {
  const stream = await open(variables, query);
  const payloads = await stream.rest();
  expect(payloads).toHaveLength(1);
  expect(payloads[0].errors[0].message).toContain(message);
  await waitForActive(0);
});

it('ends with BAD_CURSOR for a cursor of another session', async () => {
  const id = await createSession(test);
  const other = await createSession(test);
  const [first] = await (await open({ id: other })).take(1);
  const after = first.data.sessionMessages.cursor;
  expect(await (await open({ id, after })).rest()).toMatchObject([
    { errors: [{ extensions: { code: 'BAD_CURSOR' } }] },
  ]);
});

it('releases a subscriber that disconnects while it waits', async () => {
  const id = await createSession(test);
  await waitForActive(0);
  const stream = await open({ id });
  await stream.take(1);
  expect(test.app.watches.active()).toBe(1);
  stream.abort();
  await waitForActive(0);
});

it('drops a subscriber that disconnects at any time after its request', async () => {
  const id = await createSession(test);
  const body = JSON.stringify({ query: messages, variables: { id } });
  const { port, hostname } = new URL(test.url);
  for (let turns = 0; turns < 40; turns += 2) {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.write(
      `POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${test.adminToken}\r\nAccept: text/event-stream\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
    socket.destroy();
  }
  await say(test, id, 'to nobody');
  await waitForActive(0);
});

it('ends every stream when the service stops', async () => {
  const other = await startApp();
  const id = await createSession(other);
  const stream = await openStream(other.url, other.adminToken, messages, { id });
  await stream.take(1);
  const ended = stream.rest().catch(() => 'cut');
  await other.close();
  await ended;
  expect(other.app.watches.active()).toBe(0);
});

it('hides the sessions of another organization as if unknown', async () => {
  const id = await createSession(test);
  const { token } = await makeOrganization(test, 'Other');
  const read = async (session: string) => (await openStream(test.url, token, messages, { id: session })).rest();
  const foreign = await read(id);
  expect(foreign).toMatchObject([{ errors: [{ extensions: { code: 'NOT_FOUND' } }] }]);
  expect(await read(id.replace(/.$/, (last) => (last === '0' ? '1' : '0')))).toEqual(foreign);
});

it.each([
  ['none', ''],
  ['a wrong one', `cog_${'a'.repeat(52)}`],
])('answers 401 with %s for a token', async (_what, token) => {
  const { response } = await openStream(test.url, token, messages, { id: await createSession(test) });
  expect(response.status).toBe(401);
  expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] });
  expect(test.app.watches.active()).toBe(0);
});
