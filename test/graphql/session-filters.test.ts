import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { type List, readAll, readPage } from '../support/pages.ts';
import { globalIdOf, makeUser } from '../support/principals.ts';
import { createSession, makeOrganization, say } from '../support/sessions.ts';

let test: TestApp;
let organizationId: string;
let token: string;
let serviceUserId: string;
let userId: string;
/** When each was made and last changed; minutes apart, so that bounds can lie between them. */
const minute = (n: number) => new Date(Date.UTC(2026, 0, 1, 0, n)).toISOString();
/** Names in the order of their making, of what is read to tell sessions apart. */
const titles = ['One', 'Two', 'THREE 100%', 'Four_', 'Five'];
const ids: Record<string, string> = {};

beforeAll(async () => {
  test = await startApp();
  ({ organizationId, token, serviceUserId } = await makeOrganization(test, 'Filters'));
  const user = await makeUser(test, { organizationId });
  ({ userId } = user);
  for (const [n, title] of titles.entries()) {
    const tags = [['a'], ['b', 'c'], ['c'], [], ['a', 'c']][n];
    const id = await createSession(test, { organizationId, title, tags }, n < 2 ? user.token : token);
    ids[title] = id;
    const { store } = test.app.services;
    // The last of them changed first.
    await store.execute('update session set created_at = $2, updated_at = $3 where id = $1', [
      id,
      minute(n),
      minute(20 - n),
    ]);
    await store.execute('update session_tag set created_at = $2 where session_id = $1', [id, minute(n)]);
  }
  await createSession(test, { organizationId, title: 'Unlisted', isUnlisted: true }, token);
  const end = 'mutation($input: TerminateSessionInput!) { terminateSession(input: $input) { session { updatedAt } } }';
  await graphql(test, token, end, { input: { sessionId: ids.Five, archive: true } });
  const { store } = test.app.services;
  await store.execute('update session set updated_at = $2 where id = $1', [ids.Five, minute(16)]);
  await store.execute("update session set origin = 'cli' where id = $1", [ids.Two]);
});
afterAll(() => test.close());

async function read(args: Record<string, unknown>): Promise<{ titles: string[] | null; errors: any[] | undefined }> {
  const { data, errors } = await graphql(
    test,
    token,
    `query($id: ID!, $filter: SessionFilter, $orderBy: SessionOrder) {
       organization(id: $id) { sessions(first: 100, filter: $filter, orderBy: $orderBy) { nodes { title } } } }`,
    { id: organizationId, ...args },
  );
  return { titles: data?.organization?.sessions.nodes.map((node: any) => node.title) ?? null, errors };
}

const someId = '0'.repeat(32);
const cases: [string, () => Record<string, unknown>, string[]][] = [
  ['nothing', () => ({}), ['Five', 'Four_', 'THREE 100%', 'Two', 'One']],
  ['null everywhere', () => ({ status: null, tags: null, isArchived: null, search: null }), [...titles].reverse()],
  ['a status', () => ({ status: ['EXIT'] }), ['Five']],
  ['several', () => ({ status: ['EXIT', 'NEW'] }), [...titles].reverse()],
  ['no status at all', () => ({ status: [] }), []],
  ['a tag', () => ({ tags: ['a'] }), ['Five', 'One']],
  ['any of several tags', () => ({ tags: ['a', 'b'] }), ['Five', 'Two', 'One']],
  ['a tag that none has', () => ({ tags: ['A'] }), []],
  ['archived', () => ({ isArchived: true }), ['Five']],
  ['not archived', () => ({ isArchived: false }), ['Four_', 'THREE 100%', 'Two', 'One']],
  ['an origin', () => ({ origin: ['CLI'] }), ['Two']],
  ['several origins', () => ({ origin: ['API', 'WEBAPP'] }), ['Five', 'Four_', 'THREE 100%', 'One']],
  ['who made it, a user', () => ({ createdById: userId }), ['Two', 'One']],
  ['who made it, a service user', () => ({ createdById: serviceUserId }), ['Five', 'Four_', 'THREE 100%']],
  ['who made it, by a global id', () => ({ createdById: globalIdOf('User', userId.slice(5)) }), ['Two', 'One']],
  ['nobody who made it', () => ({ createdById: someId }), []],
  ['who made it, by what is no id', () => ({ createdById: '\u0000' }), []],
  ['a playbook', () => ({ playbookId: someId }), []],
  ['an automation', () => ({ automationId: 'x' }), []],
  ['made then or later', () => ({ createdAfter: minute(3) }), ['Five', 'Four_']],
  ['made before', () => ({ createdBefore: minute(2) }), ['Two', 'One']],
  ['made between', () => ({ createdAfter: minute(1), createdBefore: minute(3) }), ['THREE 100%', 'Two']],
  ['changed then or later', () => ({ updatedAfter: minute(19) }), ['Two', 'One']],
  ['changed before', () => ({ updatedBefore: minute(18) }), ['Five', 'Four_']],
  [
    'the first and the last year',
    () => ({ createdAfter: '0001-01-01T00:00:00Z', createdBefore: '9999-12-31T23:59:59Z' }),
    [...titles].reverse(),
  ],
  ['part of the title', () => ({ search: 'o' }), ['Four_', 'Two', 'One']],
  ['part of the title in other letters', () => ({ search: 'three' }), ['THREE 100%']],
  ['signs that SQL would match with', () => ({ search: '%' }), ['THREE 100%']],
  ['another such sign', () => ({ search: '_' }), ['Four_']],
  [
    'all at once',
    () => ({ tags: ['c'], isArchived: false, search: 'T', createdById: userId, status: ['NEW'] }),
    ['Two'],
  ],
];

it.each(cases)('narrows the sessions by %s', async (_what, filter, expected) => {
  expect(await read({ filter: filter() })).toEqual({ titles: expected, errors: undefined });
});

it.each([
  ['NUL in a search', { search: '\u0000' }],
  ['half a surrogate in a search', { search: '\ud800' }],
  ['NUL in a tag', { tags: ['\u0000'] }],
  ['half a surrogate in a tag', { tags: ['\udc00'] }],
  ['the year 0', { createdAfter: '0000-01-01T00:00:00Z' }],
])('finds nothing unexpected by %s', async (_what, filter) => {
  const { errors } = await read({ filter });
  for (const error of errors ?? []) expect(error.extensions.code).toBe('INVALID_INPUT');
});

describe('ordered', () => {
  const orders: [string, string, string[]][] = [
    ['CREATED_AT', 'DESC', [...titles].reverse()],
    ['CREATED_AT', 'ASC', titles],
    ['UPDATED_AT', 'DESC', titles],
    ['UPDATED_AT', 'ASC', [...titles].reverse()],
  ];
  it.each(orders)('by %s %s, in one page or in several', async (field, direction, expected) => {
    const orderBy = { field, direction };
    expect((await read({ orderBy })).titles).toEqual(expected);
    const list: List = {
      token,
      declared: '$id: ID!, $orderBy: SessionOrder',
      variables: { id: organizationId, orderBy },
      field: 'organization(id: $id) { list: sessions(PAGE, orderBy: $orderBy) SELECTION }',
      at: (data) => data.organization.list,
    };
    const globalIds = expected.map((title) => globalIdOf('Session', ids[title] ?? ''));
    expect(await readAll(test, list, 'forwards', { size: 2 })).toEqual(globalIds);
    expect(await readAll(test, list, 'backwards', { size: 2 })).toEqual(globalIds);
  });

  it('by one time, a list takes no cursor of the other', async () => {
    const listBy = (field: string): List => ({
      token,
      declared: '$id: ID!, $orderBy: SessionOrder',
      variables: { id: organizationId, orderBy: { field, direction: 'DESC' } },
      field: 'organization(id: $id) { list: sessions(PAGE, orderBy: $orderBy) SELECTION }',
      at: (data) => data.organization.list,
    });
    const { page } = await readPage(test, listBy('CREATED_AT'), { first: 1 });
    const { errors } = await readPage(test, listBy('UPDATED_AT'), { first: 1, after: page?.edges[0]?.cursor });
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_CURSOR' } }]);
  });
});

it('goes on after a cursor whose session is there no more', async () => {
  const own = await makeOrganization(test, 'Gone');
  const made: string[] = [];
  for (const title of ['a', 'b', 'c']) {
    made.unshift(await createSession(test, { organizationId: own.organizationId, title }, own.token));
  }
  const list: List = {
    token: own.token,
    declared: '$id: ID!',
    variables: { id: own.organizationId },
    field: 'organization(id: $id) { list: sessions(PAGE) SELECTION }',
    at: (data) => data.organization.list,
  };
  const { page } = await readPage(test, list, { first: 2 });
  const after = page?.edges[1]?.cursor;
  // As if it had been moved away: what the cursor was of is no longer in the list.
  await test.app.services.store.execute('update session set is_unlisted = true where id = $1', [made[1]]);
  const rest = await readPage(test, list, { first: 2, after });
  expect(rest.page?.edges.map(({ node }) => node.id)).toEqual([globalIdOf('Session', made[2] ?? '')]);
});

it('shows an unlisted session to whoever knows its id, and in no list', async () => {
  const id = await createSession(test, { organizationId, title: 'Hidden', isUnlisted: true }, token);
  await say(test, id, 'here');
  const { data } = await graphql(test, token, 'query($id: ID!) { session(id: $id) { title isUnlisted } }', { id });
  expect(data.session).toEqual({ title: 'Hidden', isUnlisted: true });
  expect((await read({ filter: { search: 'hidden' } })).titles).toEqual([]);
});
