import { beforeAll, describe, expect, it } from 'vitest';
import { graphql } from '../support/app.ts';
import { runMutation } from '../support/people.ts';
import { appendToLog, createSession, makeOrganization, say } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();
let organizationId: string;
let token: string;

beforeAll(async () => {
  ({ organizationId, token } = await makeOrganization(test, 'Search'));
});

const inOrganization = `query($id: ID!, $query: String!, $filter: SessionFilter, $first: Int, $after: String) { organization(id: $id) {
  sessionSearch(query: $query, filter: $filter, first: $first, after: $after) { totalCount totalCountIsExact pageInfo { hasNextPage endCursor }
    nodes { session { title } titleHighlights { start length }
      matches { event { seq kind } cursor excerpt { text highlights { start length } } } } } } }`;
const inSession = `query($id: ID!, $query: String!, $first: Int, $after: String, $last: Int) { session(id: $id) {
  search(query: $query, first: $first, after: $after, last: $last) { totalCount pageInfo { hasNextPage endCursor }
    nodes { event { seq kind ... on SessionMessage { body } ... on ToolCallEvent { title } } cursor excerpt { text } } } } }`;

const search = async (query: string, more: object = {}, as = token, id = organizationId) =>
  graphql(test, as, inOrganization, { id, query, ...more });
const titlesOf = async (query: string, more: object = {}) => {
  const { data, errors } = await search(query, more);
  if (errors) throw new Error(JSON.stringify(errors));
  return data.organization.sessionSearch.nodes.map(({ session }: any) => session.title);
};
const searchIn = async (id: string, query: string, more: object = {}, as = token) =>
  (await graphql(test, as, inSession, { id, query, ...more })).data.session?.search;

const tool = (title: string, status: string, more: object = {}) =>
  ({ kind: 'TOOL_CALL', data: { toolCallId: title, title, status, ...more } }) as const;
const start = (title: string, prompt: string, more: object = {}) =>
  createSession(test, { organizationId, title, prompt, ...more }, token);

it('finds titles, messages and completed tool calls, with excerpts and positions', async () => {
  const id = await start('Repair the aqueduct', 'Please look at the bridge.');
  await say(test, id, 'I read\nsrc/aqueduct/flow.ts and the valves are fine.');
  await appendToLog(test, id, tool('Edit flow.ts', 'in_progress'), tool('Edit flow.ts', 'completed'));
  await appendToLog(test, id, { kind: 'THOUGHT', body: 'hiddenthought' }, tool('Read secretoutput', 'pending'));
  const { data } = await search('aqueduct');
  expect(data.organization.sessionSearch).toMatchObject({ totalCount: 1, totalCountIsExact: true });
  const [found] = data.organization.sessionSearch.nodes;
  expect(found).toMatchObject({
    session: { title: 'Repair the aqueduct' },
    titleHighlights: [{ start: 11, length: 8 }],
    matches: [
      {
        excerpt: {
          text: 'I read src/aqueduct/flow.ts and the valves are fine.',
          highlights: [{ start: 11, length: 8 }],
        },
      },
    ],
  });
  expect(await titlesOf('flow.ts valv')).toEqual(['Repair the aqueduct']);
  expect(await titlesOf('"edit flow"')).toEqual(['Repair the aqueduct']);
  // All words must be in one text.
  expect(await titlesOf('bridge valves')).toEqual([]);
  expect(await titlesOf('hiddenthought or secretoutput')).toEqual([]);
  expect(await titlesOf('aqueduct -aqueduct')).toEqual([]);
  const own = await searchIn(id, 'flow');
  expect(own).toMatchObject({
    totalCount: 2,
    nodes: [{ event: { kind: 'MESSAGE' } }, { event: { kind: 'TOOL_CALL', title: 'Edit flow.ts' } }],
  });
  const around = `query($id: ID!, $cursor: String!) { session(id: $id) { events(before: $cursor, last: 1) { nodes { seq } } } }`;
  const [match] = found.matches;
  const before = await graphql(test, token, around, { id, cursor: match.cursor });
  expect(before.data.session.events.nodes).toEqual([{ seq: match.event.seq - 1 }]);
});

it('pages through the matches of a session and the sessions of an organization', async () => {
  const ids: string[] = [];
  for (const n of [1, 2, 3]) ids.push(await start(`Paging ${n}`, 'The zeppelin flies.'));
  await say(test, ids[0] as string, 'zeppelin one', 'zeppelin two', 'other', 'Zeppelins three');
  const texts: string[] = [];
  for (let after: string | null = null; ; ) {
    const page: any = await searchIn(ids[0] as string, 'zeppelin', { first: 3, after });
    texts.push(...page.nodes.map(({ event }: any) => event.body));
    if (!page.pageInfo.hasNextPage) break;
    after = page.pageInfo.endCursor;
  }
  expect(texts).toEqual(['The zeppelin flies.', 'zeppelin one', 'zeppelin two', 'Zeppelins three']);
  expect((await searchIn(ids[0] as string, 'zeppelin', { last: 1 })).nodes[0].event.body).toBe('Zeppelins three');
  const first = (await search('zeppelin', { first: 2 })).data.organization.sessionSearch;
  expect(first).toMatchObject({ totalCount: 3, pageInfo: { hasNextPage: true } });
  expect(first.nodes.map(({ session, matches }: any) => [session.title, matches.length])).toEqual([
    ['Paging 1', 3],
    ['Paging 3', 1],
  ]);
  expect(await titlesOf('zeppelin', { first: 2, after: first.pageInfo.endCursor })).toEqual(['Paging 2']);
  expect(await titlesOf('zeppelin', { filter: { ids: [ids[1]] } })).toEqual(['Paging 2']);
  const document =
    'query($id: ID!) { organization(id: $id) { sessions(first: 3) { nodes { title search(query: "zeppelin", last: 1) { nodes { event { seq } } } } } } }';
  const nested = await graphql(test, token, document, { id: organizationId });
  expect(nested.errors).toBeUndefined();
  expect(nested.data.organization.sessions.nodes.map((node: any) => node.search.nodes.length)).toEqual([1, 1, 1]);
});

it('finds an edited message by its current text, no withdrawn message, and the current title', async () => {
  const id = await start('Early name', 'first');
  const send = async (body: string) =>
    (await runMutation(test, 'sendMessage', 'message { id }', { sessionId: id, body }, token)).message.id;
  const [edited, withdrawn] = [await send('wrongword'), await send('withdrawnword')];
  expect(await titlesOf('wrongword')).toEqual(['Early name']);
  await runMutation(test, 'updateQueuedMessage', 'message { id }', { messageId: edited, body: 'rightword' }, token);
  await runMutation(test, 'withdrawMessage', 'message { id }', { messageId: withdrawn }, token);
  expect(await titlesOf('wrongword or withdrawnword')).toEqual([]);
  const own = await searchIn(id, 'rightword');
  expect(own.nodes).toMatchObject([{ excerpt: { text: 'rightword' } }]);
  await runMutation(test, 'updateSession', 'session { id }', { sessionId: id, title: 'Latername' }, token);
  expect(await titlesOf('early')).toEqual([]);
  expect(await titlesOf('latername')).toEqual(['Latername']);
});

it('finds nothing of other organizations, and unlisted sessions only where lists show them', async () => {
  const id = await start('Hidden', 'unlistedword', { isUnlisted: true });
  const other = await makeOrganization(test, 'Other search');
  await createSession(
    test,
    { organizationId: other.organizationId, title: 'Foreign', prompt: 'foreignword' },
    other.token,
  );
  for (const word of ['unlistedword', 'foreignword', 'foreign', 'hidden']) {
    const { data } = await search(word);
    expect(data.organization.sessionSearch, word).toMatchObject({ totalCount: 0, totalCountIsExact: true, nodes: [] });
  }
  expect(await titlesOf('unlistedword', { filter: { isUnlisted: true } })).toEqual(['Hidden']);
  expect((await searchIn(id, 'unlistedword')).totalCount).toBe(1);
  expect(await searchIn(id, 'unlistedword', {}, other.token)).toBeUndefined();
  const foreign = await search('hidden', {}, other.token);
  expect(foreign.data.organization).toBeNull();
});

it('forgets the words of what is deleted from the database', async () => {
  const id = await start('Doomed', 'doomedword');
  const { store } = test.app.services;
  await store.execute('delete from log_entry where session_id = $1 and message_type is not null', [id]);
  expect(await titlesOf('doomedword')).toEqual([]);
  expect(await titlesOf('doomed')).toEqual(['Doomed']);
  await store.execute('delete from session where id = $1', [id]);
  expect(await store.query('select 1 from session_text where session_id = $1', [id])).toEqual([]);
});

it('accepts texts that are hard to index, and finds their other words', async () => {
  const id = await start('Hard', 'prompt');
  const texts = [
    'x'.repeat(100_000),
    `${'y'.repeat(2_046)} hardone`,
    "it's <b>hardtwo</b> &amp; a\\b 'q' http://host.example/p?x=hardthree#f",
    '\u0301\u{1f389}hardfour',
    'a@b.example hardfive 12abc 1e5',
    `${'w '.repeat(30_000)}lateword`,
  ];
  await say(test, id, ...texts);
  for (const word of ['hardone', 'hardtwo', 'hardthree', 'hardfive', 'host', '12abc', '1e5', 'xxxx']) {
    expect((await searchIn(id, word)).totalCount, word).toBe(1);
  }
  expect((await searchIn(id, 'lateword')).totalCount).toBe(0);
});

it('searches the sessions that changed last for a word of very many texts', async () => {
  const [one, two] = [await start('Crowd one', 'crowd'), await start('Crowd two', 'crowd')];
  const entries = Array.from({ length: 1_100 }, (_, n) => tool(`crowd ${n}`, 'completed'));
  for (const id of [one, two]) await appendToLog(test, id, ...entries);
  // A filter counts before the limit of sessions.
  expect(await titlesOf('crowd', { filter: { tags: ['none'] } })).toEqual([]);
  expect(await titlesOf('crowd', { filter: { search: 'two' } })).toEqual(['Crowd two']);
  const { data } = await search('crowd');
  expect(data.organization.sessionSearch).toMatchObject({ totalCount: 2, totalCountIsExact: false });
  expect(data.organization.sessionSearch.nodes[0].matches.map(({ excerpt }: any) => excerpt.text)).toEqual([
    'crowd 1099',
    'crowd 1098',
    'crowd 1097',
  ]);
});

describe('a refused search', () => {
  it.each(['', '-x', 'x'.repeat(301), 'a '.repeat(21), 'or'])('is %j', async (query) => {
    const { errors } = await search(query);
    expect(errors).toMatchObject([{ extensions: { code: 'INVALID_INPUT', path: ['query'] } }]);
  });

  it('has a cursor of another list', async () => {
    const { errors } = await search('x', { after: 'bm90IGE=' });
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_CURSOR' } }]);
  });
});
