import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seed } from '../../bench/support/seed.ts';
import { newId } from '../../src/domain/ids.ts';
import { migrate } from '../../src/store/migrations.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { seedForeignEnterprise } from '../tenancy/world.ts';
import { startAppOn, type TestApp } from './app.ts';
import { contentOf, type Installed, variablesOf } from './backups.ts';
import { findPostgresBinaries, startPostgresCluster } from './postgres-cluster.ts';
import { onDatabase, useTransactions } from './postgres-copies.ts';
import { runCommand } from './server.ts';
import { openStoreOn } from './test-store.ts';

const sessions = 10_000;
const template = 'switchyard_restored';

/**
 * Restores the backup of a used service in another cluster into a database of the private server, which all apps of the tests
 * then start on a copy of (TEST_RESTORED=1). The service has its first enterprise, which is empty, as tests expect it, and another
 * enterprise with 10,000 sessions.
 */
export async function setup(): Promise<void> {
  const serverUrl = process.env.TEST_POSTGRES_URL as string;
  const directory = mkdtempSync(join(tmpdir(), 'switchyard-test-'));
  const cluster = await startPostgresCluster(findPostgresBinaries() as string);
  try {
    const original = await startOriginal(cluster.url);
    await seedSessions(original);
    // No transaction id of the original may be known in the new cluster.
    await useTransactions(cluster.url, 5_000);
    const backup = join(directory, 'backup');
    await run('backup', original, backup, '--allow-missing-files');

    await onDatabase(serverUrl, `create database ${template}`);
    const databaseUrl = Object.assign(new URL(serverUrl), { pathname: `/${template}` }).href;
    await onDatabase(databaseUrl, 'drop schema public cascade', 'create schema public');
    const restored = { dataDir: join(directory, 'data'), databaseUrl };
    await run('restore', restored, backup);
    const again = join(directory, 'again');
    await run('backup', restored, again, '--allow-missing-files');
    if (JSON.stringify(contentOf(again)) !== JSON.stringify(contentOf(backup)))
      throw new Error('The restored data differs from the original.');
    process.env.TEST_RESTORED_TEMPLATE = template;
    const { adminToken, v1Key, organizationId } = original;
    process.env.TEST_RESTORED_START = JSON.stringify({ adminToken, v1Key, organizationId });
    await original.close();
  } finally {
    await cluster.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function run(name: string, installed: Installed, ...args: string[]): Promise<void> {
  const { code, stderr } = await runCommand(name, variablesOf(installed), ...args);
  if (code !== 0) throw new Error(`${name} failed: ${stderr}`);
}

async function startOriginal(clusterUrl: string): Promise<TestApp> {
  await onDatabase(clusterUrl, 'create database original');
  const url = Object.assign(new URL(clusterUrl), { pathname: '/original' }).href;
  const driver = await openPostgres(url, { onError: () => undefined, onWait: () => undefined });
  await migrate(driver);
  await driver.close();
  return startAppOn(await openStoreOn(url));
}

/** Writes the sessions into an organization of another enterprise. */
async function seedSessions(test: TestApp): Promise<void> {
  const ids = { enterpriseId: newId(), organizationId: newId() };
  const { store } = test.app.services;
  await store.transact((tx) => seedForeignEnterprise(test, tx, { ...ids, organizationId: newId() }));
  // The gateway of sockets accepts addresses that any enterprise allows: the tests of one enterprise's list need an empty one.
  await store.execute('update enterprise set ip_ranges = $2 where id = $1', [ids.enterpriseId, ['203.0.113.7/32']]);
  // These keys decide about the agents of all enterprises of a process.
  await store.execute('delete from provider_key where enterprise_id = $1 and organization_id is null', [
    ids.enterpriseId,
  ]);
  const createdAt = test.app.services.now();
  await store.prisma.organization.create({
    data: { id: ids.organizationId, enterpriseId: ids.enterpriseId, name: 'Large', createdAt, updatedAt: createdAt },
  });
  const [owner] = await store.query<{ id: string }>('select id from user_account where enterprise_id = $1 limit 1', [
    ids.enterpriseId,
  ]);
  const client = { query: (sql: string, values: unknown[] = []) => store.query(sql, values) };
  await seed(client as never, { ...ids, sessions, entriesEach: 5, userId: owner?.id as string });
}
