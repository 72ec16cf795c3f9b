import { mkdir } from 'node:fs/promises';
import { PGlite } from '@electric-sql/pglite';
import { PrismaPGlite } from 'pglite-prisma-adapter';
import type { Driver, Session } from './driver.ts';

/** Where an embedded database lives: a directory, or memory filled from a dump (tests). */
export type PgliteHome = { readonly directory: string } | { readonly dump: Blob };

/**
 * Opens the embedded database. It is one connection in this process: everything waits its turn, and a query on the plain
 * client inside an open transaction would wait for itself, which the store's guard refuses.
 */
export async function openPglite(home: PgliteHome): Promise<Driver & { dump(): Promise<Blob> }> {
  const client = await create(home);
  const query = async <Row>(sql: string, values: readonly unknown[] = []): Promise<Row[]> =>
    (await client.query<Row>(sql, [...values])).rows;
  const session: Session = {
    query,
    script: async (sql) => {
      await client.exec(sql);
    },
  };
  return {
    dialect: 'pglite',
    adapter: new PrismaPGlite(client),
    query,
    session: (work) => work(session),
    close: () => (client.closed ? Promise.resolve() : client.close()),
    dump: () => client.dumpDataDir('none'),
  };
}

async function create(home: PgliteHome): Promise<PGlite> {
  if ('dump' in home) return PGlite.create('memory://', { loadDataDir: home.dump });
  await mkdir(home.directory, { recursive: true, mode: 0o700 });
  return PGlite.create(home.directory);
}
