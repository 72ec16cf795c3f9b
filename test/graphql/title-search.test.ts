import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { textSearch, wordsOf } from '../../src/domain/text-search.ts';
import { graphql } from '../support/app.ts';
import { readAll } from '../support/pages.ts';
import { rowsRead } from '../support/rows-read.ts';
import { makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();
let organizationId: string;
let token: string;

const titles = [
  'Write the release notes (37)',
  'Release 38: fix src/log.ts',
  "Don't lose C:\\temp\\x",
  "~'a' & !b | <-> :*",
  'Обновить журнал',
  '更新发布说明',
  'Ärger im Büro, STRASSE',
  'İstanbul ΣΑΣ ﬁne',
  '😀😁😂 emoji',
  '\u0001mark and\ttab',
  'a',
];

async function addSessions(to: string, added: readonly string[]): Promise<void> {
  await test.app.services.store.execute(
    `insert into session (id, organization_id, title, is_title_derived, status, origin, prompt, created_at, updated_at)
     select t.id, $1, t.title, false, 'exit', 'api', 'x', '2026-01-01Z'::timestamptz + t.n * interval '1 minute', '2026-02-01Z'::timestamptz - t.n * interval '1 minute'
       from unnest($2::text[], $3::text[]) with ordinality t (id, title, n)`,
    [to.slice(4), added.map(() => newId()), added],
  );
}

beforeAll(async () => {
  ({ organizationId, token } = await makeOrganization(test, 'Titles'));
  await addSessions(organizationId, titles);
});

async function find(search: string, more = ''): Promise<string[]> {
  const { data, errors } = await graphql(
    test,
    token,
    `query($id: ID!, $search: String!) { organization(id: $id) { sessions(first: 100, filter: { search: $search } ${more}) { nodes { title } } } }`,
    { id: organizationId, search },
  );
  expect(errors).toBeUndefined();
  return data.organization.sessions.nodes.map(({ title }: { title: string }) => title);
}

it.each([
  ['release 37', [titles[0]]],
  ['37 RELEASE notes', [titles[0]]],
  ['lease', [titles[1], titles[0]]],
  ['log.ts 38', [titles[1]]],
  ["C:\\temp don't", [titles[2]]],
  ["~'a'", [titles[3]]],
  ['ОБНОВИТЬ', [titles[4]]],
  ['журнал обн', [titles[4]]],
  ['发布 更新', [titles[5]]],
  ['büro ärger', [titles[6]]],
  ['istanbul', []],
  ['😂 😀', [titles[8]]],
  ['\u0001mark', [titles[9]]],
  ['release 39', []],
])('finds titles by %j', async (search, expected) => {
  expect(await find(search)).toEqual(expected);
  const oldestFirst = await find(search, 'orderBy: { field: UPDATED_AT, direction: DESC }');
  expect(oldestFirst).toEqual(expected.toReversed());
});

it('finds each title by parts of it, in any order', async () => {
  const part = fc.constantFrom(...titles).chain((title) =>
    fc
      .array(fc.tuple(fc.nat({ max: title.length }), fc.integer({ min: 1, max: 9 })), { minLength: 1, maxLength: 3 })
      .map((ranges) => {
        const characters = Array.from(title);
        return ranges.map(([from, length]) => characters.slice(from, from + length).join('')).join(' ');
      }),
  );
  await fc.assert(
    fc.asyncProperty(part, async (search) => {
      const matches = (title: string) => wordsOf(search).every((word) => textSearch(word).isIn(title));
      expect(await find(search)).toEqual(titles.filter(matches).toReversed());
    }),
    { numRuns: 150 },
  );
});

it('finds a session by its new title', async () => {
  const { store } = test.app.services;
  await store.execute(`update session set title = 'Renamed 1' where title = 'a'`);
  expect(await find('renamed')).toEqual(['Renamed 1']);
  await store.execute(`update session set title = 'a' where title = 'Renamed 1'`);
  expect(await find('renamed')).toEqual([]);
});

it('reads few sessions for a rare word, and no more than the page of a common one', async () => {
  const other = await makeOrganization(test, 'Many titles');
  await addSessions(
    other.organizationId,
    Array.from({ length: 6_000 }, (_, n) => `Nightly build ${n % 1_000 === 0 ? `special${n}` : `ordinary ${n}`}`),
  );
  const { store } = test.app.services;
  for (const table of ['session', 'session_text', 'session_change']) await store.execute(`analyze ${table}`);
  const query =
    'query($id: ID!, $search: String!) { organization(id: $id) { sessions(first: 20, filter: { search: $search }) { nodes { title } } } }';
  const read = (search: string) =>
    rowsRead(test, () => graphql(test, other.token, query, { id: other.organizationId, search }));
  const titlesOf = ({ answer }: Awaited<ReturnType<typeof read>>) =>
    answer.data.organization.sessions.nodes.map(({ title }: { title: string }) => title);
  const rare = await read('special nightly');
  expect(titlesOf(rare)).toEqual([5, 4, 3, 2, 1, 0].map((n) => `Nightly build special${n * 1_000}`));
  expect(rare.read.session).toBeLessThan(20);
  const none = await read('specially built');
  expect(titlesOf(none)).toEqual([]);
  expect(none.read.session ?? 0).toBe(0);
  const common = await read('night ordinary');
  expect(titlesOf(common)).toHaveLength(20);
  expect(common.read.session).toBeLessThan(60);
  const list = {
    token: other.token,
    declared: '$id: ID!',
    variables: { id: other.organizationId },
    field: 'organization(id: $id) { list: sessions(PAGE, filter: { search: "ordinary 59" }) SELECTION }',
    at: (data: any) => data.organization.list,
  };
  const all = Array.from({ length: 6_000 }, (_, n) => n).filter((n) => n % 1_000 !== 0 && `${n}`.includes('59'));
  expect(await readAll(test, list, 'forwards', { size: 50 })).toHaveLength(all.length);
  expect(await readAll(test, list, 'backwards', { size: 50 })).toHaveLength(all.length);
});
