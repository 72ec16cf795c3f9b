import { createClient } from 'graphql-sse';
import { describe, expect, it, onTestFinished } from 'vitest';
import { call, graphql, startApp } from '../support/app.ts';
import { makeKey } from '../support/principals.ts';
import { createSession, makeOrganization, say } from '../support/sessions.ts';
import { callStream, type Reservation, reserve } from '../support/single-connection.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const messages = 'subscription($id: ID!) { sessionMessages(sessionId: $id) { node { body } } }';
const waitFor = (read: () => number, count: number) => expect.poll(read, { interval: 5, timeout: 60_000 }).toBe(count);
const waitForActive = (count: number) => waitFor(() => test.app.watches.active(), count);
const waitForStreams = (count: number) => waitFor(() => test.app.streams.count().stream, count);
const bodyOf = (payload: any) => payload.data.sessionMessages.node.body;
const send = (stream: Reservation, method: string, body?: unknown, query = '', key = test.adminToken) =>
  callStream(test, key, stream.token, method, body, query);

it('answers several operations on one stream, each with its id, and completes each', async () => {
  const id = await createSession(test);
  const stream = await reserve(test, test.adminToken);
  expect(stream.response.headers.get('content-type')).toContain('text/event-stream');
  expect(await stream.refused({ query: messages, variables: { id } }, 'follow')).toBeNull();
  expect(await stream.event()).toMatchObject({ event: 'next', id: 'follow' });
  expect(await stream.refused({ query: '{ viewer { principalType } }' }, 'ask')).toBeNull();
  expect([await stream.event(), await stream.event()]).toEqual([
    {
      event: 'next',
      id: 'ask',
      payload: { data: { viewer: { principalType: 'SERVICE_USER' } }, extensions: { cost: 1 } },
    },
    { event: 'complete', id: 'ask' },
  ]);
  await say(test, id, 'still here');
  expect(bodyOf((await stream.event()).payload)).toBe('still here');
  stream.abort();
  await waitForActive(0);
  await waitForStreams(0);
});

it('serves the client of graphql-sse, in both of its modes', async () => {
  const id = await createSession(test);
  for (const singleConnection of [true, false]) {
    const client = createClient({
      url: `${test.url}/graphql/stream`,
      headers: { authorization: `Bearer ${test.adminToken}` },
      singleConnection: singleConnection as false,
      retryAttempts: 0,
    });
    onTestFinished(() => client.dispose());
    const received: unknown[] = [];
    const follow = () => client.iterate<any>({ query: messages, variables: { id } });
    const [one, other] = [follow(), follow()];
    for (const each of [one, other]) received.push(bodyOf((await each.next()).value));
    await waitForActive(2);
    await one.return?.();
    await waitForActive(1);
    await say(test, id, `mode ${singleConnection}`);
    received.push(((await other.next()).value as any)?.data.sessionMessages.node.body);
    expect(received.slice(0, 2)).toEqual(['say hello', 'say hello']);
    client.dispose();
    await waitForActive(0);
    await waitForStreams(0);
  }
});

it('ends one operation by DELETE, and the others continue', async () => {
  const id = await createSession(test);
  const stream = await reserve(test, test.adminToken);
  for (const name of ['a', 'b']) {
    await stream.refused({ query: messages, variables: { id } }, name);
    expect(await stream.event()).toMatchObject({ event: 'next', id: name });
  }
  expect((await send(stream, 'DELETE', undefined, '?operationId=a')).status).toBe(200);
  await waitForActive(1);
  await say(test, id, 'to b');
  expect(await stream.event()).toMatchObject({ id: 'b', event: 'next' });
  expect((await send(stream, 'DELETE')).status).toBe(400);
  // The id can be used again.
  expect(await stream.refused({ query: '{ __typename }' }, 'a')).toBeNull();
  expect(await stream.event()).toMatchObject({ id: 'a', payload: { data: { __typename: 'Query' } } });
  stream.abort();
  await waitForActive(0);
});

it('refuses only the invalid operation', async () => {
  const id = await createSession(test);
  const stream = await reserve(test, test.adminToken);
  await stream.refused({ query: messages, variables: { id } }, 'good');
  await stream.event();
  const bad: [string, object, number][] = [
    ['a batch', [{ query: '{ __typename }' }], 400],
    ['no id', { query: '{ __typename }' }, 400],
    ['a taken id', { query: '{ __typename }', extensions: { operationId: 'good' } }, 409],
    ['no document', { extensions: { operationId: 'x' } }, 400],
    ['a syntax error', { query: '{', extensions: { operationId: 'x' } }, 400],
    ['variables that are none', { query: '{ __typename }', variables: [1], extensions: { operationId: 'x' } }, 400],
    ['no such operation', { query: '{ __typename }', operationName: 'Y', extensions: { operationId: 'x' } }, 400],
  ];
  for (const [what, body, status] of bad) {
    const answer = await send(stream, 'POST', body);
    expect({ what, status: answer.status }).toEqual({ what, status });
    expect(answer.body.errors[0].message).toBeTruthy();
  }
  const mutation = 'mutation { createSession(input: {prompt: "x"}) { wasReplayed } }';
  const address = `?query=${encodeURIComponent(mutation)}&extensions=${encodeURIComponent('{"operationId":"m"}')}`;
  expect((await send(stream, 'GET', undefined, address)).status).toBe(405);
  // A runtime error is reported on the stream.
  expect(await stream.refused({ query: messages, variables: { id: 'nothing' } }, 'y')).toBeNull();
  expect(await stream.event()).toMatchObject({ id: 'y', payload: { errors: [{ extensions: { code: 'NOT_FOUND' } }] } });
  expect(await stream.event()).toEqual({ event: 'complete', id: 'y' });
  await say(test, id, 'alive');
  expect(bodyOf(await stream.next())).toBe('alive');
});

it('accepts 100 concurrent operations', async () => {
  const id = await createSession(test);
  const stream = await reserve(test, test.adminToken);
  for (let n = 0; n < 100; n++) {
    expect(await stream.refused({ query: messages, variables: { id } }, `${n}`)).toBeNull();
  }
  const { status, body } = await send(stream, 'POST', { query: messages, extensions: { operationId: 'more' } });
  expect({ status, code: body.errors[0].extensions.code }).toEqual({ status: 429, code: 'LIMIT_EXCEEDED' });
  stream.abort();
  await waitForActive(0);
});

describe('a stream', () => {
  it('belongs to one principal', async () => {
    const stream = await reserve(test, test.adminToken);
    const { token } = await makeOrganization(test, 'Other');
    const unknown = {
      status: 404,
      body: { errors: [{ message: expect.any(String), extensions: { code: 'NOT_FOUND' } }] },
    };
    const operation = { query: '{ __typename }', extensions: { operationId: 'x' } };
    expect(await send(stream, 'POST', operation, '', token)).toMatchObject(unknown);
    expect(await send(stream, 'DELETE', undefined, '?operationId=x', token)).toMatchObject(unknown);
    expect(await callStream(test, test.adminToken, 'made-up', 'POST', operation)).toMatchObject(unknown);
    expect((await callStream(test, null as never, stream.token, 'POST', operation)).status).toBe(401);
    expect((await call(test, null, 'PUT', '/graphql/stream')).status).toBe(401);
  });

  it('can be opened once', async () => {
    const stream = await reserve(test, test.adminToken);
    const headers = { accept: 'text/event-stream', 'x-graphql-event-stream-token': stream.token };
    expect((await call(test, test.adminToken, 'GET', '/graphql/stream', undefined, headers)).status).toBe(409);
  });

  it('ends with its key, and with the service', async () => {
    const { token: mine } = await makeOrganization(test, 'Mine');
    const key = await makeKey(test, { kind: 'SERVICE', organizationId: test.organizationId });
    const stream = await reserve(test, key);
    const id = await createSession(test);
    await stream.refused({ query: messages, variables: { id } });
    await stream.event();
    const list = '{ organization(id: "%") { apiKeys(first: 100) { nodes { apiKeyId kind } } } }';
    const { data } = await graphql(test, test.adminToken, list.replace('%', test.organizationId));
    for (const { apiKeyId, kind } of data.organization.apiKeys.nodes) {
      if (kind !== 'SERVICE') continue;
      const revoke = 'mutation($id: ID!) { revokeApiKey(input: {apiKeyId: $id}) { userErrors { message } } }';
      await graphql(test, test.adminToken, revoke, { id: apiKeyId });
    }
    await expect(stream.event()).rejects.toThrow('ended');
    await waitForActive(0);
    expect(mine).toBeTruthy();

    const other = await startApp();
    const last = await reserve(other, other.adminToken);
    const ended = last.event().catch(() => 'ended');
    await other.close();
    expect(await ended).toBe('ended');
    expect(other.app.streams.count()).toEqual({ socket: 0, stream: 0 });
  });
});
