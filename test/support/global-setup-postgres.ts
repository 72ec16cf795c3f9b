import { findPostgresBinaries, howToGetPostgres, startPostgresCluster } from './postgres-cluster.ts';

/**
 * Gives the workers of the project `postgres` a server: the one of TEST_POSTGRES_URL, else a private one for this run.
 * Returns what vitest calls at the end.
 */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.TEST_POSTGRES_URL) return undefined;
  const binaries = findPostgresBinaries();
  if (!binaries) throw new Error(`The tests on PostgreSQL found no server: ${howToGetPostgres}.`);
  const cluster = await startPostgresCluster(binaries);
  process.env.TEST_POSTGRES_URL = cluster.socketUrl;
  return async () => {
    delete process.env.TEST_POSTGRES_URL;
    await cluster.stop();
  };
}
