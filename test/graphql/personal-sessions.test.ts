import { beforeAll, describe, expect, it } from 'vitest';
import { graphql } from '../support/app.ts';
import { type Clock, stopClock } from '../support/clock.ts';
import { runMutation } from '../support/people.ts';
import { makeKey, makeUser } from '../support/principals.ts';
import { appendToLog, createSession, makeOrganization, say } from '../support/sessions.ts';
import { connect, follow } from '../support/sockets.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();
let organizationId: string;
let bot: string;
let serviceKey: string;
let one: { token: string; userId: string };
let two: { token: string; userId: string };
let clock: Clock;

beforeAll(async () => {
  clock = stopClock(test);
  ({ organizationId, token: bot } = await makeOrganization(test, 'Personal'));
  serviceKey = await makeKey(test, { kind: 'SERVICE', organizationId });
  one = await makeUser(test, { organizationId });
  two = await makeUser(test, { organizationId });
});

const state = 'session { isUnread isPinned lastReadSeq }';
const act = (name: string, sessionId: string, as: string, more: object = {}) =>
  runMutation(test, name, state, { sessionId, ...more }, as);
const read = async (id: string, as: string) =>
  (await graphql(test, as, '{ session(id: "ID") { isUnread isPinned lastReadSeq } }'.replace('ID', id))).data.session;
const titles = async (filter: object, as: string) => {
  const document = `query($id: ID!, $filter: SessionFilter) { organization(id: $id) { sessions(filter: $filter) { totalCount nodes { title } } } }`;
  const { data, errors } = await graphql(test, as, document, { id: organizationId, filter });
  if (errors) throw new Error(JSON.stringify(errors));
  const { totalCount, nodes } = data.organization.sessions;
  expect(totalCount).toBe(nodes.length);
  return nodes.map(({ title }: any) => title);
};
const start = (title: string, as = bot) => createSession(test, { organizationId, title }, as);
const marks = async () =>
  (await test.app.services.store.query<any>('select xmin::text, * from session_read order by 2, 3', [])) as any[];

it('marks sessions as read and unread, for each principal alone', async () => {
  const [own, other] = [await start('Own', one.token), await start('Of the bot')];
  // A user's own session is unread until it is opened, another one only after it was.
  expect(await read(own, one.token)).toEqual({ isUnread: true, isPinned: false, lastReadSeq: null });
  expect(await read(other, one.token)).toMatchObject({ isUnread: false });
  expect(await titles({ isUnread: true }, one.token)).toEqual(['Own']);
  for (const id of [own, other]) {
    const marked = await act('markSessionRead', id, one.token);
    expect(marked).toMatchObject({ session: { isUnread: false, lastReadSeq: expect.any(Number) }, userErrors: [] });
  }
  expect(await titles({ isUnread: true }, one.token)).toEqual([]);
  clock.advance(1_000);
  await appendToLog(test, other, { kind: 'THOUGHT', body: 'no news' });
  expect(await read(other, one.token)).toMatchObject({ isUnread: false });
  await say(test, other, 'news');
  expect(await read(other, one.token)).toMatchObject({ isUnread: true });
  expect(await read(other, two.token)).toMatchObject({ isUnread: false });
  expect(await titles({ isUnread: true }, one.token)).toEqual(['Of the bot']);
  expect(await titles({ isUnread: false }, one.token)).toEqual(['Own']);
  expect(await titles({ not: { isUnread: true }, or: [{ isUnread: false }] }, one.token)).toEqual(['Own']);
  // A service user has marks of its own, and a service key none.
  expect(await read(other, bot)).toEqual({ isUnread: true, isPinned: false, lastReadSeq: null });
  expect(await act('markSessionRead', other, bot)).toMatchObject({ session: { isUnread: false }, userErrors: [] });
  expect(await act('pinSession', other, bot)).toMatchObject({ session: { isPinned: true }, userErrors: [] });
  expect(await titles({ isUnread: true }, one.token)).toEqual(['Of the bot']);
  expect(await read(other, serviceKey)).toEqual({ isUnread: false, isPinned: false, lastReadSeq: null });
});

it('keeps a session read that somebody archives or unarchives, and unread if it was', async () => {
  const id = await start('Put away', two.token);
  await act('markSessionRead', id, one.token);
  await act('markSessionRead', id, two.token);
  for (const mutation of ['archiveSession', 'unarchiveSession']) {
    clock.advance(1_000);
    await act(mutation, id, two.token);
    expect(await read(id, two.token)).toMatchObject({ isUnread: false });
  }
  expect(await read(id, one.token)).toMatchObject({ isUnread: false });
  clock.advance(1_000);
  await say(test, id, 'news');
  await act('archiveSession', id, two.token);
  expect(await read(id, one.token)).toMatchObject({ isUnread: true });
  expect(await read(id, two.token)).toMatchObject({ isUnread: true });
});

it('does not change the time of the last activity, or the order by it, with archive, undo, pins and marks', async () => {
  const own = await makeUser(test, { organizationId });
  const [waits, works, later] = [
    await start('Waits', own.token),
    await start('Works', own.token),
    await start('Later', own.token),
  ];
  const { store } = test.app.services;
  const asAgent = `update run set queued_at = null, delivered_seq = 99 where session_id = $1`;
  await store.execute(asAgent, [waits]);
  const setStatus = `update session set status = 'running', status_detail = $2 where id = $1`;
  await store.execute(setStatus, [waits, 'waiting_for_user']);
  await store.execute(setStatus, [works, 'working']);
  clock.advance(1_000);
  await say(test, later, 'news');
  const list = async () => {
    const document = `query($id: ID!, $own: [ID!]) { organization(id: $id) {
      sessions(filter: {createdByIds: $own}, orderBy: {field: UPDATED_AT, direction: DESC}) { nodes { sessionId updatedAt } } } }`;
    const variables = { id: organizationId, own: [`user-${own.userId}`] };
    const { data, errors } = await graphql(test, own.token, document, variables);
    if (errors) throw new Error(JSON.stringify(errors));
    return data.organization.sessions.nodes;
  };
  const before = await list();
  expect(before.map(({ sessionId }: any) => sessionId)[0]).toBe(`devin-${later}`);
  const acts = ['archiveSession', 'unarchiveSession', 'pinSession', 'markSessionRead', 'unpinSession'];
  for (const id of [waits, works]) {
    for (const name of acts) {
      clock.advance(1_000);
      expect(await act(name, id, own.token)).toMatchObject({ userErrors: [] });
      expect(await list()).toEqual(before);
    }
  }
  // The console's undo resumes a session that waited: it has no work, so nothing happens in it.
  expect(await act('resumeSession', waits, own.token)).toMatchObject({ userErrors: [] });
  expect(await list()).toEqual(before);
  // A suspension by its user is a change of status.
  expect(await act('suspendSession', waits, own.token)).toMatchObject({ userErrors: [] });
  expect((await list()).map(({ sessionId }: any) => sessionId)[0]).toBe(`devin-${waits}`);
});

it('marks up to an entry, never backwards, and writes only if something is unread', async () => {
  const id = await start('Long', one.token);
  clock.advance(1_000);
  await say(test, id, 'first');
  const { lastReadSeq: seq } = (await act('markSessionRead', id, one.token)).session;
  clock.advance(1_000);
  await say(test, id, 'second');
  expect((await act('markSessionRead', id, one.token, { seq: 1 })).session).toEqual({
    isUnread: true,
    isPinned: false,
    lastReadSeq: seq,
  });
  expect((await act('markSessionRead', id, one.token, { seq: seq + 1 })).session).toMatchObject({
    isUnread: false,
    lastReadSeq: seq + 1,
  });
  const before = await marks();
  expect((await act('markSessionRead', id, one.token)).session).toMatchObject({
    isUnread: false,
    lastReadSeq: seq + 1,
  });
  expect((await act('markSessionRead', id, one.token, { seq: 2_000_000_000 })).session).toMatchObject({
    lastReadSeq: seq + 1,
  });
  expect(await marks()).toEqual(before);
  expect(await act('markSessionRead', id, one.token, { seq: 0 })).toMatchObject({
    userErrors: [{ code: 'INVALID_INPUT', path: ['input', 'seq'] }],
  });
});

it('pins at most 100 sessions of a user', async () => {
  const [first, second] = [await start('Pinned'), await start('Not pinned')];
  expect(await act('pinSession', first, one.token)).toMatchObject({ session: { isPinned: true }, userErrors: [] });
  expect(await act('pinSession', first, one.token)).toMatchObject({ session: { isPinned: true }, userErrors: [] });
  expect(await titles({ isPinned: true }, one.token)).toEqual(['Pinned']);
  expect(await titles({ isPinned: false }, one.token)).toContain('Not pinned');
  expect(await titles({ isPinned: true }, two.token)).toEqual([]);
  const across = '{ sessions(filter: {isPinned: true}) { nodes { title } } }';
  expect((await graphql(test, one.token, across)).data.sessions.nodes).toEqual([{ title: 'Pinned' }]);
  const { store } = test.app.services;
  await store.execute('insert into session_pin select $1, md5(n::text), now() from generate_series(1, 99) n', [
    one.userId.replace('user-', ''),
  ]);
  expect(await act('pinSession', second, one.token)).toMatchObject({
    userErrors: [{ code: 'LIMIT_EXCEEDED', path: ['input', 'sessionId'] }],
  });
  for (let n = 0; n < 2; n++)
    expect(await act('unpinSession', first, one.token)).toMatchObject({ session: { isPinned: false }, userErrors: [] });
  expect(await act('pinSession', second, one.token)).toMatchObject({ userErrors: [] });
});

describe('refuses', () => {
  it('service keys', async () => {
    const id = await start('Refused');
    for (const name of ['markSessionRead', 'pinSession', 'unpinSession']) {
      const document = `mutation($id: ID!) { ${name}(input: {sessionId: $id}) { session { id } } }`;
      const { data, errors } = await graphql(test, serviceKey, document, { id });
      expect(data[name]).toBeNull();
      expect(errors?.[0].extensions.code, name).toBe('FORBIDDEN');
      expect(errors?.[0].extensions.permission).toBeUndefined();
    }
    for (const filter of ['{isPinned: true}', '{or: [{isUnread: false}]}']) {
      const { errors } = await graphql(test, serviceKey, `{ sessions(filter: ${filter}) { nodes { id } } }`);
      expect(errors?.[0].extensions.code).toBe('FORBIDDEN');
    }
  });

  it('sessions that the user may not see, and subscriptions', async () => {
    const foreign = await makeOrganization(test, 'Foreign');
    const id = await createSession(test, { organizationId: foreign.organizationId }, foreign.token);
    for (const name of ['markSessionRead', 'pinSession', 'unpinSession']) {
      const document = `mutation($id: ID!) { ${name}(input: {sessionId: $id}) { session { id } } }`;
      const { errors } = await graphql(test, one.token, document, { id });
      expect(errors?.[0].extensions.code, name).toBe('NOT_FOUND');
    }
    expect((await marks()).filter(({ session_id }) => session_id === id)).toEqual([]);
    const query = 'subscription($filter: SessionFilter) { sessionChanges(filter: $filter) { type } }';
    for (const [filter, path] of [
      [{ isUnread: true }, ['filter', 'isUnread']],
      [{ not: { isPinned: true } }, ['filter', 'not', 'isPinned']],
    ]) {
      const errors = await follow(connect(test.url, one.token), query, { filter }).errors();
      expect(errors).toMatchObject([{ extensions: { code: 'INVALID_INPUT', path } }]);
    }
  });
});
