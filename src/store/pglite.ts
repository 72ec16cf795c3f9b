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
 * Where an embedded database lives: a directory, or memory filled from a dump (tests). A directory that is new is filled
 * from a template of `templatesDir`, the build's own where it is not said.
 */
export type PgliteHome = { readonly directory: string; readonly templatesDir?: string } | { readonly dump: Blob };

/**
 * PostgreSQL's page cache. It is cleared at the start and so counts whole as memory of the process from then on: a quarter
 * of what PostgreSQL takes when nobody asks it for less. What does not fit is in the operating system's cache.
 */
const sharedBuffers = '32MB';

/**
 * Opens the embedded database. It is one connection in this process: everything waits its turn, and a query on the plain
 * client inside an open transaction would wait for itself, which the adapter's scope refuses.
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
    // There is but one connection.
    urgentQuery: query,
    async ping() {
      await client.query('select 1');
    },
    session: (work) => {
      // There is but one connection: sessions take turns on it.
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

// A new one is made beside and renamed: a start that is killed over it leaves nothing that looks like a database.
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

/** Begins a transaction; unlike the adapter package's own, whose commit() also resolves when COMMIT failed. */
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
        // The package speaks to a client through its query(), which a transaction has too.
        prismaSide: () => new PrismaPGlite(tx as unknown as PGlite).connect(),
        commit: () => end('commit'),
        rollback: () => end('rollback'),
      });
      if ((await decision) === 'rollback') await tx.rollback();
    });
    ended.catch(reject);
  });
}
