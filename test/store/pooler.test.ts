import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it as always, expect, onTestFinished, vi } from 'vitest';
import { openStore } from '../../src/store/store.ts';
import { freePort } from '../support/server.ts';
import { createDatabase, testDatabase } from '../support/test-store.ts';

const program = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/usr/local/bin/pgbouncer'].find((path) =>
  existsSync(path),
);
if (testDatabase === 'postgres' && !program)
  process.stderr.write(
    'Skipping the tests of poolers: PgBouncer is not installed (Debian: apt-get install pgbouncer).\n',
  );
const it = always.skipIf(testDatabase !== 'postgres' || !program);

const log = { warn: () => undefined, error: () => undefined };

/** Starts a PgBouncer in front of the database; returns the database's URL through it. */
async function startPooler(mode: 'session' | 'transaction' | 'statement'): Promise<string> {
  const url = new URL(await createDatabase());
  const database = url.pathname.slice(1);
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-pooler-'));
  chmodSync(folder, 0o777);
  const port = await freePort();
  const settings = `[databases]
${database} = host=${url.hostname} port=${url.port || 5432} dbname=${database} user=${url.username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
`;
  await writeFile(join(folder, 'pgbouncer.ini'), settings);
  // It does not run as root.
  const user = process.getuid?.() === 0 ? { uid: Number(execFileSync('id', ['-u', 'nobody'])) } : {};
  const child = spawn(program as string, ['-q', join(folder, 'pgbouncer.ini')], { stdio: 'ignore', ...user });
  onTestFinished(async () => {
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
    await rm(folder, { recursive: true, force: true });
  });
  await vi.waitFor(
    async () => {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      socket.destroy();
    },
    { timeout: 20_000 },
  );
  return `postgresql://${url.username}@127.0.0.1:${port}/${database}`;
}

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
