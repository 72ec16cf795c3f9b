import { rowsRead } from '../test/support/rows-read.ts';
import { pageDocument } from './graphql-page.ts';
import type { Bench } from './support/bench.ts';
import { askOnce, graphqlRequest } from './support/http.ts';
import type { Row } from './support/measures.ts';
import { seed } from './support/seed.ts';

const filters = {
  unfiltered: {},
  status: { status: ['ERROR'] },
  archived: { isArchived: true },
  tag: { tags: ['kind-7'] },
} as const;

const document = pageDocument
  .replace('($id: ID!)', '($id: ID!, $first: Int, $after: String, $last: Int, $filter: SessionFilter)')
  .replace('(first: 20)', '(first: $first, after: $after, last: $last, filter: $filter)');

const [pageSize, messagesEach] = [20, 5];

/**
 * Rows that a page of sessions with their messages reads, by `EXPLAIN (ANALYZE, BUFFERS)` of the statements that the
 * service sends: those beyond the page and the one extra row of each list.
 */
export async function measureRowsRead(bench: Bench): Promise<Row[]> {
  const database = await bench.createDatabase();
  const { createApp } = await bench.importBuilt<typeof import('../src/app.ts')>('app.ts');
  const { readConfig } = await bench.importBuilt<typeof import('../src/config/config.ts')>('config/config.ts');
  const app = await createApp(
    readConfig({
      PATH: process.env.PATH,
      DATA_DIR: await bench.createFolder(),
      DATABASE_URL: database.url,
      SECRET_KEY: 'the same secret key in every process',
      PORT: '0',
      ROLES: 'api',
      LOG_LEVEL: 'error',
    }),
  );
  bench.defer(() => app.stop());
  const { url } = await app.start();
  const { adminToken = '', organizationId = '' } = app.installation.firstStart ?? {};
  await seed(database.client, { organizationId, sessions: 30_000, entriesEach: 10 });
  const ask = async (variables: object) => {
    const request = graphqlRequest(adminToken, document, { id: `org-${organizationId}`, ...variables });
    return rowsRead({ app }, async () => (await askOnce(url, request)).data.organization.sessions);
  };
  const rows: Row[] = [];
  for (const [name, filter] of Object.entries(filters)) {
    const first = await ask({ filter, first: pageSize });
    // Reaches the middle by the cursor of a later page: the rarest filter has ten pages at most.
    let after = first.answer.pageInfo.endCursor;
    for (let n = 0; n < 5; n++) {
      after = (await ask({ filter, first: pageSize, after })).answer.pageInfo.endCursor;
    }
    const pages = {
      first,
      middle: await ask({ filter, first: pageSize, after }),
      last: await ask({ filter, last: pageSize }),
    };
    let worst = { beyond: -1, note: '' };
    for (const [position, { answer, read, blocks, statements }] of Object.entries(pages)) {
      if (answer.edges.length !== pageSize)
        throw new Error(`The ${position} page by ${name} has not ${pageSize} sessions.`);
      const sessions = Math.max(read.session ?? 0, read.session_tag ?? 0) - (pageSize + 1);
      const messages = (read.log_entry ?? 0) - pageSize * (messagesEach + 1);
      const beyond = Math.max(0, sessions) + Math.max(0, messages);
      const counts = Object.entries(read).map(([table, count]) => `${table} ${count}`);
      if (beyond > worst.beyond)
        worst = {
          beyond,
          note: `${position} page: ${counts.join(', ')}; ${blocks} blocks, ${statements.length} statements`,
        };
    }
    rows.push({ name: `rows-read/${name as keyof typeof filters}`, value: worst.beyond, note: worst.note });
  }
  return rows;
}
