import { once } from 'node:events';
import { expect, it } from 'vitest';
import { openStream } from '../support/event-stream.ts';
import { createSession, makeOrganization, say } from '../support/sessions.ts';
import { connect, follow, rawSocket } from '../support/sockets.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const author = '... on ServiceUser { id name createdAt } ... on User { id email }';
// Each kind with the number of its entries.
const subscriptions = {
  'all fields': `subscription($id: ID!, $after: String) { sessionMessages(sessionId: $id, after: $after) {
    __typename cursor node { __typename id eventId seq kind createdAt type body author { __typename ${author} } } } }`,
  'a variable that decides what is shown': `subscription($id: ID!, $shown: Boolean = false) { sessionMessages(sessionId: $id) {
    node { said: body author @include(if: $shown) { ${author} } ...more @skip(if: $shown) } } }
    fragment more on SessionMessage { again: body seq }`,
  'all events': `subscription($id: ID!) { log: sessionEvents(sessionId: $id) { cursor node { id seq kind
    ... on SessionMessage { body author { ${author} } } ... on StatusEvent { status statusDetail isArchived } } } }`,
} as const;

it('sends shared frames equal to those for a single subscriber', { timeout: 240_000 }, async () => {
  const { token, organizationId } = await makeOrganization(test, 'Frames');
  const other = await makeOrganization(test, 'Other frames');
  // Its first message is by a user whom the organization's members cannot see.
  const id = await createSession(test, { organizationId });
  await say(test, id, 'ä "quoted" and 🎉', '', 'x'.repeat(70_000));
  const operations = Object.values(subscriptions).flatMap((query) =>
    [token, test.adminToken].flatMap((viewer) =>
      [{ id }, { id, shown: true }].map((variables) => ({ query, viewer, variables })),
    ),
  );
  const clients = new Map([token, test.adminToken].map((each) => [each, connect(test.url, each)]));
  const followed = await Promise.all(
    operations.map(async ({ query, viewer, variables }) => ({
      stream: await openStream(test.url, viewer, query, variables),
      sockets: [1, 2, 3].map((n) =>
        follow(n === 3 ? connect(test.url, viewer) : (clients.get(viewer) as never), query, variables),
      ),
    })),
  );
  const authors = new Set<string>();
  const compare = async (count: number) => {
    for (const { stream, sockets } of followed) {
      const alone = await stream.take(count);
      expect(alone.every(({ data, errors }) => data && !errors)).toBe(true);
      for (const socket of sockets) expect(JSON.stringify(await socket.take(count))).toBe(JSON.stringify(alone));
      for (const { data } of alone) authors.add(JSON.stringify(data.sessionMessages?.node.author));
    }
  };
  await compare(4);
  for (let n = 0; n < 5; n++) await say(test, id, `live ${n}`, `and ${n}`);
  await compare(10);
  // One subscriber sees the author and the other does not: neither receives a result computed for another.
  expect([...authors].some((each) => each.includes('"name"'))).toBe(true);
  expect(authors.has('null')).toBe(true);
  const stranger = follow(connect(test.url, other.token), subscriptions['all fields'], { id });
  expect(await stranger.errors()).toMatchObject([{ extensions: { code: 'NOT_FOUND' } }]);
});

it('masks errors in a part of an entry like for a single subscriber', async () => {
  const id = await createSession(test);
  const query = subscriptions['all fields'];
  const { store } = test.app.services;
  const { query: original } = store;
  store.query = (sql: string, values?: readonly unknown[]) =>
    /from service_user s/.test(sql)
      ? Promise.reject(new Error('the database is at db.internal:5432'))
      : (original.call(store, sql, values) as never);
  const client = connect(test.url, test.adminToken);
  const sockets = [follow(client, query, { id }), follow(client, query, { id })];
  const stream = await openStream(test.url, test.adminToken, query, { id });
  const [alone] = await stream.take(1);
  const shared = await Promise.all(sockets.map((each) => each.take(1)));
  store.query = original;
  expect(alone).toMatchObject({
    data: { sessionMessages: { node: { author: null } } },
    errors: [{ message: 'Unexpected error.' }],
  });
  // Each error was logged under an id of its own.
  const errors = alone.errors.map((error: any) => ({
    ...error,
    extensions: { ...error.extensions, errorId: expect.any(String) },
  }));
  for (const each of shared) expect(each).toEqual([{ ...alone, errors }]);
});

it('sends complete frames of any length and with any operation id', async () => {
  const id = await createSession(test);
  const bodies = [0, 30, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 65_440, 65_450, 65_460, 65_470, 65_480, 65_490]
    .flatMap((length) => [length, length + 5])
    .map((length) => 'é'.repeat(length % 7) + 'b'.repeat(length));
  await say(test, id, ...bodies);
  const ids = ['1', '"quoted" \\ ☃', 'x'.repeat(300)];
  const socket = rawSocket(test.url);
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: test.adminToken } }));
  await once(socket, 'message');
  const received = new Map(ids.map((each) => [each, [] as string[]]));
  socket.on('message', (data) => {
    const { id: to, type, payload } = JSON.parse(String(data));
    if (type === 'next') received.get(to)?.push(payload.data.sessionMessages.node.body);
  });
  const query = 'subscription($id: ID!) { sessionMessages(sessionId: $id) { node { body } } }';
  for (const each of ids) {
    socket.send(JSON.stringify({ type: 'subscribe', id: each, payload: { query, variables: { id } } }));
  }
  const isAll = () => [...received.values()].every((each) => each.length === bodies.length + 1);
  await expect.poll(isAll, { timeout: 60_000 }).toBe(true);
  for (const each of received.values()) expect(each).toEqual(['say hello', ...bodies]);
});
