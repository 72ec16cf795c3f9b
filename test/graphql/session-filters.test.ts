import { beforeAll, describe, expect, it } from 'vitest';
import { graphql } from '../support/app.ts';
import { type List, readAll, readPage } from '../support/pages.ts';
import { globalIdOf, makeUser } from '../support/principals.ts';
import { createSession, makeOrganization, say } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();
let organizationId: string;
let token: string;
let serviceUserId: string;
let userId: string;
/** The times of creation and of the last change, minutes apart, so that bounds can lie between them. */
const minute = (n: number) => new Date(Date.UTC(2026, 0, 1, 0, n)).toISOString();
/** The titles in order of creation, which identify the sessions. */
const titles = ['One', 'Two', 'THREE 100%', 'Four_', 'Five'];
const ids: Record<string, string> = {};

beforeAll(async () => {
  ({ organizationId, token, serviceUserId } = await makeOrganization(test, 'Filters'));
  const user = await makeUser(test, { organizationId });
  ({ userId } = user);
  for (const [n, title] of titles.entries()) {
    const tags = [['a'], ['b', 'c'], ['c'], [], ['a', 'c']][n];
    const id = await createSession(test, { organizationId, title, tags }, n < 2 ? user.token : token);
    ids[title] = id;
    const { store } = test.app.services;
    // Changed in reverse order: the last one first.
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

async function read(args: Record<string, unknown>): Promise<{ titles: string[] | null; errors: any[] | undefined }> {
  const { data, errors } = await graphql(
    test,
    token,
    `query($id: ID!, $filter: SessionFilter, $orderBy: SessionOrder) {
       organization(id: $id) { sessions(first: 100, filter: $filter, orderBy: $orderBy) { nodes { title } } } }`,
    { id: organizationId, ...args },
  );
  return { titles: data?.organization?.sessions?.nodes.map((node: any) => node.title) ?? null, errors };
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
  ['creator: a user', () => ({ createdByIds: [userId] }), ['Two', 'One']],
  ['creator: a service user', () => ({ createdByIds: [serviceUserId] }), ['Five', 'Four_', 'THREE 100%']],
  ['creator: a global id', () => ({ createdByIds: [globalIdOf('User', userId.slice(5))] }), ['Two', 'One']],
  ['nobody who made it', () => ({ createdByIds: [someId] }), []],
  ['creator: an invalid id', () => ({ createdByIds: ['\u0000'] }), []],
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
  ['words of the title in another order', () => ({ search: ' 100  thr' }), ['THREE 100%']],
  ['words of which the title has only one', () => ({ search: 'three 200' }), []],
  ['nothing but spaces', () => ({ search: '  ' }), [...titles].reverse()],
  ['signs that SQL would match with', () => ({ search: '%' }), ['THREE 100%']],
  ['another such sign', () => ({ search: '_' }), ['Four_']],
  [
    'all at once',
    () => ({ tags: ['c'], isArchived: false, search: 'T', createdByIds: [userId], status: ['NEW'] }),
    ['Two'],
  ],
];

it.each(cases)('filters sessions by %s', async (_what, filter, expected) => {
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

  it('refuses a cursor of one order by time for the other', async () => {
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

it('continues after a cursor whose session no longer matches', async () => {
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
  // As if the session had been moved: the cursor's session is no longer in the list.
  await test.app.services.store.execute('update session set is_unlisted = true where id = $1', [made[1]]);
  const rest = await readPage(test, list, { first: 2, after });
  expect(rest.page?.edges.map(({ node }) => node.id)).toEqual([globalIdOf('Session', made[2] ?? '')]);
});

it('shows an unlisted session by its id, and in no list', async () => {
  const id = await createSession(test, { organizationId, title: 'Hidden', isUnlisted: true }, token);
  await say(test, id, 'here');
  const { data } = await graphql(test, token, 'query($id: ID!) { session(id: $id) { title isUnlisted } }', { id });
  expect(data.session).toEqual({ title: 'Hidden', isUnlisted: true });
  expect((await read({ filter: { search: 'hidden' } })).titles).toEqual([]);
});

describe('by the end, the parent and the wait', () => {
  const made: Record<string, string> = {};
  let own: Awaited<ReturnType<typeof makeOrganization>>;
  const set = (id: string, changes: string) =>
    test.app.services.store.execute(`update session set ${changes} where id = $1`, [id]);

  beforeAll(async () => {
    own = await makeOrganization(test, 'States');
    for (const title of ['Asks', 'Approves', 'Works', 'Sleeps', 'Finished', 'Terminated', 'Expired', 'Child']) {
      made[title] = await createSession(test, { organizationId: own.organizationId, title, tags: ['x'] }, own.token);
    }
    const id = (title: string) => made[title] as string;
    await set(id('Asks'), `status = 'running', status_detail = 'waiting_for_user'`);
    await set(id('Approves'), `status = 'running', status_detail = 'waiting_for_approval'`);
    await set(id('Works'), `status = 'running', status_detail = 'working'`);
    await set(id('Sleeps'), `status = 'suspended', status_detail = 'inactivity'`);
    await set(id('Finished'), `status = 'exit', status_detail = 'finished', ended_by = 'finished'`);
    await set(id('Terminated'), `status = 'exit', ended_by = 'terminated'`);
    await set(id('Expired'), `status = 'exit', ended_by = 'expired'`);
    await set(id('Child'), `parent_id = '${id('Works')}'`);
  });

  const titlesOf = async (filter: unknown, orderBy: unknown = null) => {
    const { data, errors } = await graphql(
      test,
      own.token,
      `query($id: ID!, $filter: SessionFilter, $orderBy: SessionOrder) { organization(id: $id) {
         sessions(filter: $filter, orderBy: $orderBy) { totalCount nodes { title } } } }`,
      { id: own.organizationId, filter, orderBy },
    );
    if (errors) return errors[0];
    const { nodes, totalCount } = data.organization.sessions;
    expect(totalCount).toBe(nodes.length);
    return nodes.map((node: any) => node.title);
  };
  const waiting = { statusDetail: ['WAITING_FOR_USER', 'WAITING_FOR_APPROVAL'] };

  const cases: [string, () => unknown, string[]][] = [
    ['waiting', () => waiting, ['Approves', 'Asks']],
    ['waiting for a permission', () => ({ statusDetail: ['WAITING_FOR_APPROVAL'] }), ['Approves']],
    ['waiting and other conditions', () => ({ ...waiting, search: 'ASK', tags: ['x'], isArchived: false }), ['Asks']],
    ['waiting and creation time', () => ({ ...waiting, createdAfter: '2999-01-01T00:00:00Z' }), []],
    ['details of several statuses', () => ({ statusDetail: ['WORKING', 'INACTIVITY'] }), ['Sleeps', 'Works']],
    ['an end', () => ({ endReason: ['EXPIRED'] }), ['Expired']],
    ['several ends', () => ({ endReason: ['TERMINATED', 'EXPIRED'] }), ['Expired', 'Terminated']],
    ['its parent', () => ({ parentId: `devin-${made.Works}` }), ['Child']],
    ['no parent that there is', () => ({ parentId: 'x' }), []],
    ['having a parent', () => ({ hasParent: true }), ['Child']],
    ['having none', () => ({ hasParent: false, status: ['EXIT'] }), ['Expired', 'Terminated', 'Finished']],
    ['ids', () => ({ ids: [`devin-${made.Asks}`, globalIdOf('Session', made.Child ?? ''), 'x'] }), ['Child', 'Asks']],
    ['no id at all', () => ({ ids: [] }), []],
    ['the organization', () => ({ organizationIds: [own.organizationId], endReason: ['EXPIRED'] }), ['Expired']],
    ['another organization', () => ({ organizationIds: [organizationId] }), []],
    ['nobody who made it', () => ({ createdByIds: [] }), []],
    [
      'either of two',
      () => ({ or: [{ search: 'asks' }, { endReason: ['EXPIRED'] }], not: { search: 'approves' } }),
      ['Expired', 'Asks'],
    ],
    ['none of nothing', () => ({ or: [] }), []],
    ['all of nothing', () => ({ and: [], hasParent: true }), ['Child']],
    [
      'the negation, also of unknown values',
      () => ({ not: { endReason: ['FINISHED', 'TERMINATED'] }, status: ['EXIT', 'RUNNING'] }),
      ['Expired', 'Works', 'Approves', 'Asks'],
    ],
    [
      'three levels',
      () => ({ and: [{ or: [{ not: { status: ['EXIT', 'RUNNING', 'NEW'] } }, { search: 'Child' }] }] }),
      ['Child', 'Sleeps'],
    ],
  ];
  it.each(cases)('filters by %s', async (_what, filter, expected) => {
    expect(await titlesOf(filter())).toEqual(expected);
    const oldest = { field: 'CREATED_AT', direction: 'ASC' };
    expect(await titlesOf(filter(), oldest)).toEqual(expected.toReversed());
    expect((await titlesOf(filter(), { field: 'UPDATED_AT', direction: 'DESC' })).toSorted()).toEqual(
      expected.toSorted(),
    );
  });

  it('narrows by all of several tags', async () => {
    const tagged = await createSession(test, { title: 'Tagged', tags: ['x', 'y', 'z'] }, own.token);
    expect(await titlesOf({ allTags: ['x', 'y'] })).toEqual(['Tagged']);
    expect(await titlesOf({ allTags: ['z', 'nothing'] })).toEqual([]);
    expect(await titlesOf({ allTags: ['y'], tags: ['x', 'z'], createdAfter: minute(0) })).toEqual(['Tagged']);
    expect(await titlesOf({ tags: ['y'], allTags: ['x', 'z'] })).toEqual(['Tagged']);
    expect(await titlesOf({ allTags: [], ids: [`devin-${tagged}`] })).toEqual(['Tagged']);
  });

  it.each([
    ['four levels', { not: { not: { not: { not: { search: 'x' } } } } }, 'at most 3 levels'],
    ['21 conditions', { or: Array.from({ length: 21 }, () => ({ search: 'x' })) }, 'at most 20 conditions'],
    [
      '51 empty filters',
      { and: Array.from({ length: 5 }, () => ({ or: Array.from({ length: 10 }, () => ({})) })) },
      'at most 50 filters',
    ],
    ['a long list', { and: [{ tags: Array.from({ length: 101 }, () => 'x') }] }, '"tags" must have at most 100 items'],
    ['a long text', { search: 'x'.repeat(1_001) }, '"search" must have at most 1000 characters'],
    ['NUL inside', { or: [{ allTags: ['\u0000'] }] }, '"allTags" must be Unicode text'],
    ['the year 0 inside', { not: { updatedBefore: '0000-01-01T00:00:00Z' } }, '"updatedBefore" must be a time'],
  ])('refuses %s', async (_what, filter, message) => {
    const error = await titlesOf(filter);
    expect(error.extensions.code).toBe('INVALID_INPUT');
    expect(error.message).toContain(message);
  });

  it('names the path of a refused member in a bulk mutation', async () => {
    const document = `mutation($input: ArchiveSessionsInput!) { archiveSessions(input: $input) { userErrors { code path } } }`;
    const input = {
      organizationId: own.organizationId,
      selection: { filter: { and: [{}, { or: [{ search: '\u0000' }] }] } },
    };
    const { data } = await graphql(test, own.token, document, { input });
    expect(data.archiveSessions.userErrors).toEqual([
      { code: 'INVALID_INPUT', path: ['input', 'selection', 'filter', 'and', '1', 'or', '0', 'search'] },
    ]);
  });

  it('archives the matches of a combined filter, and nothing else', async () => {
    const ended = await makeOrganization(test, 'Ended');
    const ids = [];
    for (let n = 0; n < 3; n++) ids.push(await createSession(test, { title: `E${n}` }, ended.token));
    await set(ids[0] ?? '', `status = 'exit', ended_by = 'expired'`);
    const document = `mutation($input: ArchiveSessionsInput!) {
      archiveSessions(input: $input) { results { session { title } } userErrors { message } } }`;
    const filter = { or: [{ endReason: ['EXPIRED'] }, { search: 'e1' }] };
    const { data } = await graphql(test, ended.token, document, {
      input: { organizationId: ended.organizationId, selection: { filter } },
    });
    expect(data.archiveSessions).toEqual({
      results: [{ session: { title: 'E1' } }, { session: { title: 'E0' } }],
      userErrors: [],
    });
  });
});

describe('of unlisted sessions', () => {
  it('lists those that the viewer started or may manage, on request', async () => {
    const own = await makeOrganization(test, 'Unlisted');
    const [member, other] = [
      await makeUser(test, { organizationId: own.organizationId }),
      await makeUser(test, { organizationId: own.organizationId }),
    ];
    const ids: Record<string, string> = {};
    for (const [title, by] of [
      ['Mine', member.token],
      ['Theirs', other.token],
    ] as const) {
      ids[title] = await createSession(test, { title, organizationId: own.organizationId, isUnlisted: true }, by);
      await createSession(test, { title: `${title}, listed`, organizationId: own.organizationId }, by);
    }
    const listed = ['Theirs, listed', 'Mine, listed'];
    const seen = async (as: string, filter: unknown) => {
      const query = `query($id: ID!, $filter: SessionFilter) { organization(id: $id) { sessions(filter: $filter) { nodes { title } } } }`;
      const { data } = await graphql(test, as, query, { id: own.organizationId, filter });
      return data.organization.sessions.nodes.map((node: any) => node.title);
    };
    for (const filter of [null, {}, { isUnlisted: false }]) expect(await seen(own.token, filter)).toEqual(listed);
    expect(await seen(own.token, { isUnlisted: true })).toEqual(['Theirs', 'Mine']);
    expect(await seen(member.token, { isUnlisted: true })).toEqual(['Mine']);
    expect(await seen(other.token, { not: { isUnlisted: false } })).toEqual(['Theirs']);
    expect(await seen(member.token, { or: [{ isUnlisted: true }, { isUnlisted: false }] })).toEqual([
      ...listed,
      'Mine',
    ]);
    // A viewer who knows an id may read the session, and so may list it.
    expect(await seen(member.token, { or: [{ ids: [`devin-${ids.Theirs}`] }] })).toEqual(['Theirs']);
    expect(await seen(member.token, { not: { ids: ['x'] } })).toEqual(listed);
  });
});
