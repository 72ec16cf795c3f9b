import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it as always, expect, onTestFinished } from 'vitest';
import { openStore } from '../../src/store/store.ts';
import { pgbouncer, startPooler } from '../support/pooler.ts';
import { testDatabase } from '../support/test-store.ts';

if (testDatabase === 'postgres' && !pgbouncer)
  process.stderr.write(
    'Skipping the tests of poolers: PgBouncer is not installed (Debian: apt-get install pgbouncer).\n',
  );
const it = always.skipIf(testDatabase !== 'postgres' || !pgbouncer);

const log = { warn: () => undefined, error: () => undefined };

async function open(databaseUrl: string) {
  const dataDir = await mkdtemp(join(tmpdir(), 'switchyard-pooled-'));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  return openStore({ dataDir, databaseUrl, log });
}

for (const mode of ['transaction', 'statement'] as const)
  it(`refuses a pooler in the mode ${mode}`, async () => {
    await expect(open(await startPooler(mode))).rejects.toThrow(
      /^PostgreSQL at 127\.0\.0\.1:\d+, database "\w+" cannot be used: a connection pooler in transaction mode stands before it, which is not supported: .*pool_mode to session\.$/,
    );
  });

it('works through a pooler in session mode', async () => {
  const store = await open(await startPooler('session'));
  expect(await store.transact((tx) => tx.query('select 1 as n'))).toEqual([{ n: 1 }]);
  await store.ping();
  await store.close();
});
