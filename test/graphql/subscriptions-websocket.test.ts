import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, startApp, type TestApp } from '../support/app.ts';
import { createSession, makeOrganization, say } from '../support/sessions.ts';
import { connect, follow, rawSocket } from '../support/sockets.ts';
import { testDatabase } from '../support/test-store.ts';

// On PostgreSQL also with the writer and the subscribers in different processes.
const readers = testDatabase === 'postgres' ? ['the writing process', 'another process'] : ['the writing process'];

describe.each(readers)('through %s', (readerIs) => {
  let test: TestApp;
  let reader: TestApp;
  beforeAll(async () => {
    test = await startApp();
    reader = readerIs === 'another process' ? await test.another() : test;
  });
  afterAll(async () => {
    if (reader !== test) await reader.close();
    await test.close();
  });

  const messages =
    'subscription($id: ID!, $after: String) { sessionMessages(sessionId: $id, after: $after) { cursor node { seq type body author { __typename } } } }';
  const edge = (payload: any) => payload.data.sessionMessages;
  const active = () => reader.app.watches.active();
  const waitForActive = async (count: number) => {
    while (active() !== count) await new Promise((resolve) => setImmediate(resolve));
  };

  it('sends existing entries, then new ones, each once and in order', async () => {
    const id = await createSession(test);
    const following = follow(connect(reader.url, test.adminToken), messages, { id });
    expect((await following.take(1)).map(edge)).toMatchObject([
      { node: { type: 'INITIAL_USER_MESSAGE', body: 'say hello', author: { __typename: 'ServiceUser' } } },
    ]);
    await say(test, id, 'one', 'two');
    await say(test, id, 'three');
    expect((await following.take(3)).map((payload) => edge(payload).node.body)).toEqual(['one', 'two', 'three']);
  });

  it('resumes after a cursor, also one from a query', async () => {
    const id = await createSession(test);
    await say(test, id, 'a', 'b', 'c');
    const client = connect(reader.url, test.adminToken);
    const first = follow(client, messages, { id });
    const cursor = edge((await first.take(2))[1]).cursor;
    first.stop();
    const second = follow(client, messages, { id, after: cursor });
    expect((await second.take(2)).map((payload) => edge(payload).node.body)).toEqual(['b', 'c']);
  });

  it('reads a long log in batches without loss or repeat while it grows', async () => {
    const id = await createSession(test);
    const words = Array.from({ length: 350 }, (_, n) => `m${n}`);
    await say(test, id, ...words.slice(0, 250));
    const following = follow(connect(reader.url, test.adminToken), messages, { id });
    const writing = (async () => {
      for (const word of words.slice(250)) await say(test, id, word);
    })();
    const bodies = (await following.take(351)).map((payload) => edge(payload).node.body);
    await writing;
    expect(bodies.slice(1)).toEqual(words);
  });

  it('follows the complete log, or some kinds of entries, with the same cursors', async () => {
    const id = await createSession(test);
    const client = connect(reader.url, test.adminToken);
    const query =
      'subscription($id: ID!, $after: String, $kinds: [SessionEventKind!]) { sessionEvents(sessionId: $id, after: $after, kinds: $kinds) { cursor node { seq kind __typename ... on StatusEvent { status } } } }';
    const all = follow(client, query, { id });
    const [status, message] = (await all.take(2)).map((payload) => payload.data.sessionEvents);
    expect(status).toMatchObject({ node: { seq: 1, kind: 'STATUS', __typename: 'StatusEvent', status: 'NEW' } });
    expect(message).toMatchObject({ node: { seq: 2, kind: 'MESSAGE', __typename: 'SessionMessage' } });
    const some = follow(client, query, { id, kinds: ['STATUS'], after: message.cursor });
    await call(test, test.v1Key, 'DELETE', `/v1/sessions/${id}`);
    expect((await some.take(1))[0].data.sessionEvents.node).toMatchObject({ seq: 3, kind: 'STATUS', status: 'EXIT' });
  });

  it('sends the session now and after each change', async () => {
    const id = await createSession(test);
    const following = follow(
      connect(reader.url, test.adminToken),
      'subscription($id: ID!) { sessionUpdated(sessionId: $id) { status } }',
      { id },
    );
    expect((await following.take(1))[0].data.sessionUpdated).toEqual({ status: 'NEW' });
    await call(test, test.v1Key, 'DELETE', `/v1/sessions/${id}`);
    expect((await following.take(1))[0].data.sessionUpdated).toEqual({ status: 'EXIT' });
  });

  it.each([
    ['no token', null],
    ['a token that nobody has', 'cog_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'],
  ] as [string, string | null][])('closes a socket with %s with 4403', async (_what, token) => {
    const following = follow(connect(reader.url, token), messages, { id: 'x' });
    const reason = 'The token is missing, unknown, expired or revoked';
    expect(await following.ended).toMatchObject({ code: 4403, reason });
  });

  it('accepts the token without "Bearer", and the header of the upgrade', async () => {
    const id = await createSession(test);
    const following = follow(connect(reader.url, test.adminToken, test.adminToken), messages, { id });
    await expect(following.take(1)).resolves.toHaveLength(1);
  });

  it('refuses only the invalid operation: the others continue', async () => {
    const id = await createSession(test);
    const client = connect(reader.url, test.adminToken);
    const good = follow(client, messages, { id });
    await good.take(1);
    const bad: [string, string, unknown][] = [
      ['{', 'Syntax Error', {}],
      ['subscription { nothing }', 'Cannot query field', {}],
      [messages, 'There is no such session', { id: 'devin-00000000000000000000000000000000' }],
      [messages, 'must be a cursor', { id, after: 'bm90IGEgY3Vyc29y' }],
      [`{ viewer { ${'permissions '.repeat(5_000)} } }`, 'tokens', {}],
    ];
    for (const [query, message, variables] of bad) {
      expect(JSON.stringify(await follow(client, query, variables as any).errors())).toContain(message);
    }
    await say(test, id, 'still here');
    expect(edge((await good.take(1))[0]).node.body).toBe('still here');
  });

  it('hides the sessions of another organization', async () => {
    const id = await createSession(test);
    const { token } = await makeOrganization(test, 'Other');
    const foreign = await follow(connect(reader.url, token), messages, { id }).errors();
    const missing = await follow(connect(reader.url, token), messages, {
      id: id.replace(/.$/, (c) => (c === '0' ? '1' : '0')),
    }).errors();
    expect(foreign).toEqual(missing);
    expect(foreign).toMatchObject([{ extensions: { code: 'NOT_FOUND' } }]);
  });

  it('releases a subscriber after every kind of disconnection', async () => {
    const id = await createSession(test);
    await waitForActive(0);
    const client = connect(reader.url, test.adminToken);
    const following = follow(client, messages, { id });
    await following.take(1);
    expect(active()).toBe(1);
    following.stop();
    await waitForActive(0);

    const closed = connect(reader.url, test.adminToken);
    await follow(closed, messages, { id }).take(1);
    await closed.dispose();
    await waitForActive(0);

    const killed = connect(reader.url, test.adminToken);
    const before = follow(killed, messages, { id });
    await before.take(1);
    killed.terminate();
    await waitForActive(0);

    const raw = rawSocket(reader.url);
    await once(raw, 'open');
    raw.send(JSON.stringify({ type: 'connection_init', payload: { authorization: test.adminToken } }));
    await once(raw, 'message');
    // Disconnected before the response to subscribe can arrive.
    raw.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query: messages, variables: { id } } }), () =>
      raw.terminate(),
    );
    await once(raw, 'close');
    await say(test, id, 'to nobody');
    await waitForActive(0);
  });

  it('limits the operations of one socket', async () => {
    const id = await createSession(test);
    const client = connect(reader.url, test.adminToken);
    const many = Array.from({ length: 100 }, () => follow(client, messages, { id }));
    await Promise.all(many.map((each) => each.take(1)));
    const [more] = await follow(client, messages, { id }).errors();
    expect(more?.message).toContain('at most 100 operations');
    many[0]?.stop();
    await waitForActive(99);
    await expect(follow(client, messages, { id }).take(1)).resolves.toHaveLength(1);
  });
});
