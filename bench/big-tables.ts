import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { sessionCursor } from '../src/domain/sessions/list-sessions.ts';
import { pageDocument } from './graphql-page.ts';
import type { Bench, Database, Server } from './support/bench.ts';
import { median } from './support/compare.ts';
import { askOnce, getRequest, graphqlRequest } from './support/http.ts';
import type { HttpRequest, LoadResult } from './support/load.ts';
import type { Row } from './support/measures.ts';
import { seed } from './support/seed.ts';

const entriesEach = 10;
const smallSessions = 10_000;
/** The disk space of a session and its entries, with indexes and the write-ahead log. */
const bytesEach = 7_000;

const positions = ['first', 'middle', 'last', 'v1-offset'] as const;
type PagePosition = (typeof positions)[number];

/** The cost of a page on large tables compared with small ones: the time of sequential requests. */
export async function measureBigTables(bench: Bench): Promise<Row[]> {
  const { isQuick } = bench.options;
  const bigSessions = isQuick ? 100_000 : 1_000_000;
  const { bavail, bsize } = await statfs(tmpdir());
  const [free, needed] = [(bavail * bsize) / 1e9, (bigSessions * bytesEach) / 1e9];
  if (!process.env.DATABASE_URL && free < needed * 1.5) {
    const note = `not run: ${tmpdir()} has ${free.toFixed(1)} GB free, and it takes ${needed.toFixed(1)}`;
    return positions.map((position) => ({ name: `big-tables/${position}`, value: null, note }));
  }
  const [small, big] = [await prepare(bench, smallSessions), await prepare(bench, bigSessions)];
  const load = bench.startScript('load');
  const ask = ({ url, pages }: Prepared, position: PagePosition, times: number) =>
    load.ask<LoadResult>({ url, requests: [pages[position]], connections: 1, ms: 60_000, times });
  for (const each of [small, big]) for (const position of positions) await ask(each, position, isQuick ? 50 : 400);
  const rows: Row[] = [];
  for (const position of positions) {
    // Many short rounds, and the median of each pair: a temporary load of the machine affects both.
    const took = { small: [] as number[], big: [] as number[], ratio: [] as number[] };
    for (let turn = 0; turn < 15; turn++) {
      const smallMs = (await ask(small, position, isQuick ? 8 : 60)).medianMs;
      const bigMs = (await ask(big, position, isQuick ? 8 : 60)).medianMs;
      took.small.push(smallMs);
      took.big.push(bigMs);
      took.ratio.push(bigMs / smallMs);
    }
    const [smallMs, bigMs] = [median(took.small), median(took.big)];
    bench.progress(`  ${position}: ${bigMs.toFixed(2)} ms; small ${smallMs.toFixed(2)} ms`);
    const sizes = `${bigSessions.toLocaleString('en')} sessions and ${(bigSessions * entriesEach).toLocaleString('en')} entries`;
    rows.push({
      name: `big-tables/${position}`,
      value: median(took.ratio),
      note: `${bigMs.toFixed(2)} ms with ${sizes}; ${smallMs.toFixed(2)} ms`,
    });
  }
  return rows;
}

interface Prepared {
  readonly url: string;
  readonly pages: Readonly<Record<PagePosition, HttpRequest>>;
}

async function prepare(bench: Bench, sessions: number): Promise<Prepared> {
  const database = await bench.createDatabase();
  const server = await bench.startServer(database);
  bench.progress(`  writing ${sessions} sessions`);
  await seed(database.client, { organizationId: server.organizationId, sessions, entriesEach }, bench.progress);
  // So that no page waits for the cleanup of recent writes.
  await database.client.query('vacuum');
  await database.client.query('checkpoint');
  const pages = {
    'first': pageAfter(server, null),
    'middle': pageAfter(server, await cursorAt(database, sessions / 2 - 1)),
    'last': pageAfter(server, await cursorAt(database, sessions - 21)),
    'v1-offset': getRequest(`/v1/sessions?limit=20&offset=${sessions / 2}`, server.v1Key),
  };
  for (const [position, newest] of [
    ['first', sessions],
    ['middle', sessions / 2],
    ['last', 20],
  ] as const) {
    const { edges } = (await askOnce(server.url, pages[position])).data.organization.sessions;
    const title = `Session number ${newest} of the bench`;
    if (edges.length !== 20 || edges[0].node.title !== title)
      throw new Error(
        `The ${position} page should have 20 sessions from "${title}", but has ${JSON.stringify(edges[0])}`,
      );
  }
  return { url: server.url, pages };
}

const document = pageDocument
  .replace('($id: ID!)', '($id: ID!, $after: String)')
  .replace('(first: 20)', '(first: 20, after: $after)');

const pageAfter = ({ token, organizationId }: Server, after: string | null) =>
  graphqlRequest(token, document, { id: `org-${organizationId}`, after });

/** The cursor of a session that `rank` newer ones precede. */
async function cursorAt({ client }: Database, newer: number): Promise<string> {
  const { rows } = await client.query(
    'select id, created_at from session order by created_at desc, id desc limit 1 offset $1',
    [newer],
  );
  return sessionCursor({ id: rows[0].id, createdAt: rows[0].created_at });
}
