import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { PrismaPGlite } from 'pglite-prisma-adapter';
import { connectionSettings } from './connection-settings.ts';
import type { Driver, Session } from './driver.ts';
import { readFileIdentity } from './file-identity.ts';
import { unpackTemplate } from './pglite-template.ts';
import { type Begun, createTransactionScopes, scopedAdapter } from './transaction-scope.ts';
import { toParameter, valueParsers } from './values.ts';

/**
 * The storage location of an embedded database: a directory, or memory filled from a dump (tests). A new directory is
 * filled from a template in `templatesDir`, by default the build's own.
 */
export type PgliteHome = { readonly directory: string; readonly templatesDir?: string } | { readonly dump: Blob };

/**
 * PostgreSQL's page cache. It is cleared at the start, so all of it counts as memory of the process from then on: a
 * quarter of PostgreSQL's default. The operating system caches the rest.
 */
const sharedBuffers = '32MB';

/**
 * Opens the embedded database. It is one connection in this process: statements wait for each other, and a query on the
 * plain client inside an open transaction would wait for itself, which the adapter's scope refuses.
 */
export async function openPglite(home: PgliteHome): Promise<Driver & { dump(): Promise<Blob> }> {
  const client = await create(home);
  await client.exec(connectionSettings);
  const query = <Row>(sql: string, values: readonly unknown[] = []) => queryOn<Row>(client, sql, values);
  const session: Session = {
    query,
    script: async (sql) => {
      await client.exec(sql);
    },
  };
  let last: Promise<unknown> = Promise.resolve();
  const scopes = createTransactionScopes();
  return {
    dialect: 'pglite',
    scopes,
    adapter: scopedAdapter(new PrismaPGlite(client), scopes, () => begin(client)),
    begin: () => begin(client),
    query,
    // There is only one connection.
    urgentQuery: query,
    connections: () => null,
    async ping() {
      await client.query('select 1');
    },
    session: (work) => {
      // There is only one connection: sessions take turns on it.
      const result = last.then(() => work(session));
      last = result.catch(() => undefined);
      return result;
    },
    readIdentity: async () => ('dump' in home ? null : readFileIdentity(join(home.directory, 'PG_VERSION'))),
    close: () => (client.closed ? Promise.resolve() : client.close()),
    dump: () => client.dumpDataDir('none'),
  };
}

async function create(home: PgliteHome): Promise<PGlite> {
  const startParams = [...PGlite.defaultStartParams, '-c', `shared_buffers=${sharedBuffers}`];
  if ('dump' in home) return PGlite.create('memory://', { loadDataDir: home.dump, startParams });
  await requireDatabase(home.directory, home.templatesDir);
  return PGlite.create(home.directory, { startParams });
}

// A new database is created in another directory and renamed: a start that is killed meanwhile leaves nothing that
// looks like a database.
async function requireDatabase(directory: string, templatesDir?: string): Promise<void> {
  const found = await readdir(directory).catch(() => []);
  if (found.length > 0) return;
  const draft = `${directory}.new`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true, mode: 0o700 });
  if (!(await unpackTemplate(draft, templatesDir))) await (await PGlite.create(draft)).close();
  await rename(draft, directory);
}

async function queryOn<Row>(client: Pick<PGlite, 'query'>, sql: string, values: readonly unknown[]): Promise<Row[]> {
  return (await client.query<Row>(sql, values.map(toParameter), { parsers: valueParsers })).rows;
}

/** Begins a transaction. Unlike the adapter package's own, commit() rejects if COMMIT failed. */
function begin(client: PGlite): Promise<Begun> {
  return new Promise((resolve, reject) => {
    const ended = client.transaction(async (tx) => {
      let decide: (outcome: 'commit' | 'rollback') => void = () => undefined;
      const decision = new Promise<'commit' | 'rollback'>((decided) => {
        decide = decided;
      });
      const end = (outcome: 'commit' | 'rollback') => {
        decide(outcome);
        return ended;
      };
      resolve({
        query: (sql, values) => queryOn(tx as unknown as PGlite, sql, values),
        // The package uses a client through its query(), which a transaction has too.
        prismaSide: () => new PrismaPGlite(tx as unknown as PGlite).connect(),
        commit: () => end('commit'),
        rollback: () => end('rollback'),
      });
      if ((await decision) === 'rollback') await tx.rollback();
    });
    ended.catch(reject);
  });
}
