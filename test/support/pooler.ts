import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import { freePort } from './server.ts';
import { createDatabase } from './test-store.ts';

/** The path of PgBouncer; undefined: it is not installed. */
export const pgbouncer = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/usr/local/bin/pgbouncer'].find((path) =>
  existsSync(path),
);

/**
 * Starts a PgBouncer in front of a database, by default a new one; returns the database's URL through it. `maxServers`: its
 * connections to the database.
 */
export async function startPooler(
  mode: 'session' | 'transaction' | 'statement',
  { databaseUrl, maxServers = 20 }: { readonly databaseUrl?: string; readonly maxServers?: number } = {},
): Promise<string> {
  const url = new URL(databaseUrl ?? (await createDatabase()));
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
default_pool_size = ${maxServers}
`;
  await writeFile(join(folder, 'pgbouncer.ini'), settings);
  // It does not run as root.
  const user = process.getuid?.() === 0 ? { uid: Number(execFileSync('id', ['-u', 'nobody'])) } : {};
  const child = spawn(pgbouncer as string, ['-q', join(folder, 'pgbouncer.ini')], { stdio: 'ignore', ...user });
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
    { timeout: 60_000 },
  );
  return `postgresql://${url.username}@127.0.0.1:${port}/${database}`;
}
