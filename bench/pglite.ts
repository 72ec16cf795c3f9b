import { appendRequests, appendSessions } from './append.ts';
import { pageRequest, pageSeed } from './graphql-page.ts';
import type { Bench } from './support/bench.ts';
import { type Cost, compare, costOf } from './support/compare.ts';
import { askOnce } from './support/http.ts';
import type { Row } from './support/measures.ts';
import { seed } from './support/seed.ts';

const env = { ROLES: 'api' };
const pickSessions = `select id from session where not is_archived order by id limit ${appendSessions}`;
const addRuns = 'insert into run (session_id) select id from session';

/** The same operations on the embedded database and on PostgreSQL. */
export async function measurePglite(bench: Bench): Promise<Row[]> {
  const database = await bench.createDatabase();
  const native = await bench.startServer(database, { env });
  await seed(database.client, { ...pageSeed, organizationId: native.organizationId });
  await database.client.query(addRuns);
  const nativeIds = (await database.client.query(pickSessions)).rows.map(({ id }) => id as string);

  const first = await bench.startServer(null, { env });
  await first.stop();
  const log = { warn: () => undefined, error: () => undefined };
  const { openStore } = await bench.importBuilt<typeof import('../src/store/store.ts')>('store/store.ts');
  const store = await openStore({ dataDir: first.dataDir, databaseUrl: null, log });
  const client = { query: (sql: string, values?: unknown[]) => store.execute(sql, values) };
  await seed(client as never, { ...pageSeed, organizationId: first.organizationId });
  await store.execute(addRuns);
  const embeddedIds = (await store.query<{ id: string }>(pickSessions)).map(({ id }) => id);
  await store.close();
  const again = await bench.startServer(null, { env: { ...env, DATA_DIR: first.dataDir } });
  const embedded = { ...first, pid: again.pid, url: again.url };

  for (const server of [native, embedded]) {
    const page = await askOnce(server.url, pageRequest(server));
    if (page.data.organization.sessions.edges.length !== 20) throw new Error('The page has not 20 sessions.');
  }
  const pages = await compare(bench, [
    { ...native, name: 'page, PostgreSQL', requests: [pageRequest(native)] },
    { ...embedded, name: 'page, PGlite', requests: [pageRequest(embedded)] },
  ]);
  const appends = await compare(bench, [
    { ...native, name: 'append, PostgreSQL', requests: appendRequests(native, nativeIds), isVarying: true },
    { ...embedded, name: 'append, PGlite', requests: appendRequests(embedded, embeddedIds), isVarying: true },
  ]);
  return [row('pglite/graphql-page', pages, 'page'), row('pglite/append', appends, 'append')];
}

function row(name: Row['name'], costs: ReadonlyMap<string, Cost>, what: string): Row {
  const [native, embedded] = [costOf(costs, `${what}, PostgreSQL`), costOf(costs, `${what}, PGlite`)];
  return {
    name,
    value: embedded.perSecond / native.perSecond,
    note: `${Math.round(embedded.perSecond)}/s; PostgreSQL ${Math.round(native.perSecond)}/s`,
  };
}
