import { beforeAll, expect, it } from 'vitest';
import { openStream } from '../support/event-stream.ts';
import { createSession } from '../support/sessions.ts';
import { reserve } from '../support/single-connection.ts';
import { connect, follow } from '../support/sockets.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();
let id: string;
beforeAll(async () => {
  id = await createSession(test);
});

const query = `query($id: ID!) {
  session(id: $id) { title ... @defer(label: "log") { messages(first: 5) { nodes { body } } } }
}`;
const first = { data: { session: { title: 'say hello' } }, hasNext: true };
const late = { path: ['session'], label: 'log', data: { messages: { nodes: [{ body: 'say hello' }] } } };
const whole = { session: { title: 'say hello', messages: { nodes: [{ body: 'say hello' }] } } };

function post(accept: string, text = query, variables: object = { id }) {
  return fetch(`${test.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${test.adminToken}`, 'content-type': 'application/json', accept },
    body: JSON.stringify({ query: text, variables }),
  });
}

/** The parts of an answer in parts, read as a client does: by its boundary. */
async function parts(response: Response): Promise<any[]> {
  const boundary = /boundary="?([^";]+)"?/.exec(response.headers.get('content-type') ?? '')?.[1];
  const [, ...bodies] = (await response.text()).split(`\r\n--${boundary}`);
  expect(bodies.at(-1)).toMatch(/^--\s*$/);
  return bodies.slice(0, -1).map((body) => JSON.parse(body.slice(body.indexOf('\r\n\r\n'))));
}

/** Expects the combined parts to equal the complete result; the format of 2022 (deferSpec=20220824). */
function expectDeferred(received: any[]): void {
  expect(received[0]).toMatchObject(first);
  expect(received[0].data.session).not.toHaveProperty('messages');
  expect(received.slice(1).flatMap(({ incremental = [] }) => incremental)).toEqual([late]);
  expect(received.map(({ hasNext }) => hasNext)).toEqual([...received.slice(1).map(() => true), false]);
}

it.each(['multipart/mixed', 'multipart/mixed;deferSpec=20220824,application/json'])(
  'comes in parts to %s',
  async (accept) => {
    const response = await post(accept);
    expect(response.headers.get('content-type')).toMatch(/^multipart\/mixed/);
    const received = await parts(response);
    expectDeferred(received);
    expect(received[0].extensions).toEqual({ cost: 5 });
  },
);

it('sends the same events on a socket and on a single connection', async () => {
  expectDeferred(await (await openStream(test.url, test.adminToken, query, { id })).rest());
  const following = follow(connect(test.url, test.adminToken), query, { id });
  await following.ended;
  expectDeferred(await following.take(2));
  const stream = await reserve(test, test.adminToken);
  expect(await stream.refused({ query, variables: { id } })).toBeNull();
  expectDeferred([await stream.next(), await stream.next()]);
});

it.each(['application/json', 'application/graphql-response+json', '*/*'])(
  'returns a single result to %s',
  async (accept) => {
    const response = await post(accept);
    expect(await response.json()).toEqual({ data: whole, extensions: { cost: 5 } });
  },
);

it('returns a single result with "if: false", and without pending fields', async () => {
  const text = query.replace('@defer(label: "log")', '@defer(if: false)');
  expect(await parts(await post('multipart/mixed', text))).toEqual([{ data: whole, extensions: { cost: 5 } }]);
});

it('has no effect in a mutation or a subscription', async () => {
  const mutation = `mutation { createSession(input: {organizationId: "${test.organizationId}", prompt: "x"}) { ... @defer { wasReplayed } } }`;
  const [answer, ...more] = await parts(await post('multipart/mixed', mutation, {}));
  expect(answer.data).toEqual({ createSession: { wasReplayed: false } });
  expect(more).toEqual([]);
  const subscription = 'subscription($id: ID!) { sessionUpdated(sessionId: $id) { title ... @defer { status } } }';
  const [event] = await (await openStream(test.url, test.adminToken, subscription, { id })).take(1);
  expect(event).toEqual({ data: { sessionUpdated: { title: 'say hello', status: 'NEW' } } });
});

it('masks errors in a later part', async () => {
  const { store } = test.app.services;
  const original = store.query;
  store.query = (sql: string, values?: readonly unknown[]) =>
    sql.includes('log_entry')
      ? Promise.reject(new Error('the database is at db.internal:5432'))
      : (original.call(store, sql, values) as never);
  const text = await (await post('multipart/mixed')).text();
  store.query = original;
  expect(text).toContain('"Unexpected error."');
  expect(text).not.toContain('db.internal');
});

it('refuses duplicate labels, and variables as labels', async () => {
  const message = 'The label of a @defer must be a text in the document itself, unlike the others.';
  const twice = '{ ... @defer(label: "a") { __typename } viewer { ... @defer(label: "a") { principalType } } }';
  const variable = 'query($l: String) { viewer { ... @defer(label: $l) { principalType } } }';
  for (const text of [twice, variable]) {
    const { errors } = await (await post('application/json', text, {})).json();
    expect(errors[0].message).toBe(message);
  }
});
