import { describe, expect, it } from 'vitest';
import { graphql } from '../support/app.ts';
import { type List, readAll, readPage } from '../support/pages.ts';
import { makeUser } from '../support/principals.ts';
import { createSession, makeOrganization, say } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const count = 10;
const times = (n: number) => Array.from({ length: n }, (_, index) => index);

interface Made {
  readonly list: List;
  /** Adds one item at the end where new items appear. */
  readonly add: () => Promise<unknown>;
  /** The end at which new items appear. */
  readonly grows: 'first' | 'last';
}

async function makeLog(field: 'messages' | 'events'): Promise<Made> {
  const id = await createSession(test);
  await say(test, id, ...times(count).map((n) => `m${n}`));
  return {
    list: {
      token: test.adminToken,
      declared: '$id: ID!',
      variables: { id },
      field: `session(id: $id) { list: ${field}(PAGE) SELECTION }`,
      at: (data) => data.session.list,
    },
    add: () => say(test, id, 'more'),
    grows: 'last',
  };
}

let organizations = 0;
const makeOwn = () => makeOrganization(test, `Paging ${++organizations}`);

const lists: Record<string, () => Promise<Made>> = {
  messages: () => makeLog('messages'),
  events: () => makeLog('events'),
  sessions: async () => {
    const { organizationId, token } = await makeOwn();
    const add = () => createSession(test, { organizationId }, token);
    for (const _ of times(count)) await add();
    return {
      list: {
        token,
        declared: '$id: ID!',
        variables: { id: organizationId },
        field: 'organization(id: $id) { list: sessions(PAGE) SELECTION }',
        at: (data) => data.organization.list,
      },
      add,
      grows: 'first',
    };
  },
  members: async () => {
    const { organizationId, token } = await makeOwn();
    const add = () => makeUser(test, { organizationId });
    for (const _ of times(count)) await add();
    return {
      list: {
        token,
        declared: '$id: ID!',
        variables: { id: organizationId },
        field: 'organization(id: $id) { list: members(PAGE) SELECTION }',
        at: (data) => data.organization.list,
      },
      add,
      grows: 'first',
    };
  },
  organizations: async () => {
    for (const _ of times(count)) await makeOwn();
    return {
      list: { token: test.adminToken, field: 'list: organizations(PAGE) SELECTION', at: (data) => data.list },
      add: makeOwn,
      grows: 'first',
    };
  },
};

describe.each(Object.entries(lists))('%s', (_name, make) => {
  it('are read completely from both ends, each item once', async () => {
    const { list } = await make();
    const forwards = await readAll(test, list, 'forwards', { size: 3 });
    expect(forwards.length).toBeGreaterThanOrEqual(count);
    expect(new Set(forwards).size).toBe(forwards.length);
    expect(await readAll(test, list, 'backwards', { size: 3 })).toEqual(forwards);
    const { page } = await readPage(test, list, { first: 100 });
    expect(page?.edges.map(({ node }) => node.id)).toEqual(forwards);
  });

  it.each(['forwards', 'backwards'] as const)('lose and repeat none while new items appear, %s', async (direction) => {
    const { list, add, grows } = await make();
    const before = await readAll(test, list, 'forwards', { size: 100 });
    let added = 0;
    const read = await readAll(test, list, direction, {
      size: 3,
      // Only three times: otherwise each page towards the growing end would find a new item.
      afterPage: async () => {
        if (added++ < 3) await add();
      },
    });
    expect(new Set(read).size).toBe(read.length);
    expect(grows === 'last' ? read.slice(0, before.length) : read.slice(-before.length)).toEqual(before);
    // A reader that moves towards the new items gets them too.
    const isTowards = (direction === 'forwards') === (grows === 'last');
    expect(read.length - before.length).toBe(isTowards ? 3 : 0);
  });

  it('report whether more items follow a page, and are empty beyond their ends', async () => {
    const { list } = await make();
    const all = (await readPage(test, list, { first: 100 })).page?.edges ?? [];
    const middle = await readPage(test, list, { first: 2, after: all[1]?.cursor });
    expect(middle.page?.edges).toEqual(all.slice(2, 4));
    expect(middle.page?.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: true });
    const between = await readPage(test, list, { first: 100, after: all[1]?.cursor, before: all[5]?.cursor });
    expect(between.page?.edges).toEqual(all.slice(2, 5));
    const beyond = await readPage(test, list, { first: 2, after: all.at(-1)?.cursor });
    expect(beyond.page).toMatchObject({ edges: [], pageInfo: { hasNextPage: false, startCursor: null } });
    const ahead = await readPage(test, list, { last: 2, before: all[0]?.cursor });
    expect(ahead.page).toMatchObject({ edges: [], pageInfo: { hasPreviousPage: false, endCursor: null } });
  });

  it.each([
    [{ first: 0 }, '"first" must be an integer from 1 to 100, but was 0.'],
    [{ first: 101 }, '"first" must be an integer from 1 to 100, but was 101.'],
    [{ first: -1 }, '"first" must be an integer from 1 to 100, but was -1.'],
    [{ last: 0 }, '"last" must be an integer from 1 to 100, but was 0.'],
    [{ last: 101 }, '"last" must be an integer from 1 to 100, but was 101.'],
    [{ first: 1, last: 1 }, 'Either "first" or "last" was expected, but both were given.'],
  ])('refuse %o', async (request, message) => {
    const { list } = await small();
    const { errors } = await readPage(test, list, request);
    expect(errors).toMatchObject([{ message, extensions: { code: 'INVALID_INPUT' } }]);
  });

  it.each(
    [
      '',
      'x',
      '\u0000',
      '\ud800',
      '%%%',
      'x'.repeat(100_000),
      Buffer.from('log|x|1').toString('base64url'),
      Buffer.from('sessions.createdAt|1').toString('base64url'),
      Buffer.from('sessions.createdAt|-1|x').toString('base64url'),
      Buffer.from('sessions.createdAt|99999999999999999999|x').toString('base64url'),
      Buffer.from("members|1|' or 1=1 --").toString('base64url'),
      Buffer.from('organizations|NaN|a').toString('base64url'),
    ].flatMap((cursor) => [{ after: cursor }, { before: cursor }]),
  )('refuse a cursor that is none: %o', async (request) => {
    const { list } = await small();
    const { errors } = await readPage(test, list, request);
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_CURSOR' } }]);
  });

  // Refusals need no rows: one list is enough for all cases.
  let made: Promise<Made> | null = null;
  const small = () => {
    made ??= make();
    return made;
  };
});

it('return 20 items by default', async () => {
  const id = await createSession(test);
  await say(test, id, ...times(30).map(String));
  const { data } = await graphql(
    test,
    test.adminToken,
    'query($id: ID!) { session(id: $id) { messages { nodes { seq } pageInfo { hasNextPage } } } }',
    { id },
  );
  expect(data.session.messages.nodes).toHaveLength(20);
  expect(data.session.messages.pageInfo.hasNextPage).toBe(true);
});

it('accepts a cursor of messages for events and vice versa, but none of another session or list', async () => {
  const [one, two] = [await createSession(test), await createSession(test)];
  await say(test, one, 'a', 'b');
  const logOf = (id: string, field: string): List => ({
    token: test.adminToken,
    declared: '$id: ID!',
    variables: { id },
    field: `session(id: $id) { list: ${field}(PAGE) SELECTION }`,
    at: (data) => data.session.list,
  });
  const messages = (await readPage(test, logOf(one, 'messages'), { first: 3 })).page?.edges ?? [];
  const rest = await readPage(test, logOf(one, 'events'), { first: 10, after: messages[1]?.cursor });
  expect(rest.page?.edges).toEqual([messages[2]]);
  const earlier = await readPage(test, logOf(one, 'messages'), { last: 10, before: rest.page?.edges[0]?.cursor });
  expect(earlier.page?.edges).toEqual(messages.slice(0, 2));
  for (const field of ['messages', 'events']) {
    const { errors } = await readPage(test, logOf(two, field), { first: 3, after: messages[0]?.cursor });
    expect(errors).toMatchObject([{ path: ['session', 'list'], extensions: { code: 'BAD_CURSOR' } }]);
  }
  const organizations: List = {
    token: test.adminToken,
    field: 'list: organizations(PAGE) SELECTION',
    at: (data) => data.list,
  };
  const { errors } = await readPage(test, organizations, { after: messages[0]?.cursor });
  expect(errors).toMatchObject([{ extensions: { code: 'BAD_CURSOR' } }]);
});

it('refuses a cursor for another session only, not for the other sessions in the request', async () => {
  const { organizationId, token } = await makeOwn();
  const [older, newer] = [
    await createSession(test, { organizationId }, token),
    await createSession(test, { organizationId }, token),
  ];
  const cursor = Buffer.from(`log|${older}|1`).toString('base64url');
  const { data, errors } = await graphql(
    test,
    token,
    `query($older: ID!, $newer: ID!, $after: String) {
       older: session(id: $older) { title messages(after: $after) { nodes { seq } } }
       newer: session(id: $newer) { title messages(after: $after) { nodes { seq } } } }`,
    { older, newer, after: cursor },
  );
  expect(data).toEqual({
    older: { title: 'say hello', messages: { nodes: [{ seq: 2 }] } },
    newer: { title: 'say hello', messages: null },
  });
  expect(errors).toMatchObject([{ path: ['newer', 'messages'], extensions: { code: 'BAD_CURSOR' } }]);
});
