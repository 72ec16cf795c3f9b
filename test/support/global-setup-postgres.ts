import { findPostgresBinaries, howToGetPostgres, startPostgresCluster } from './postgres-cluster.ts';

/**
 * Provides a server for the workers of the project `postgres`: TEST_POSTGRES_URL, or a private server for this run. Returns
 * the teardown function for vitest.
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
