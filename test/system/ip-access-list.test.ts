import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { call } from '../support/app.ts';
import { bootstrapToken, freePort, runCommand, startServer } from '../support/server.ts';
import { createDatabase, testDatabase } from '../support/test-store.ts';

const path = '/v3/enterprise/ip-access-list';

function makeDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'switchyard-ip-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

const notStarted = 'This database is empty: no service was ever started on it. Check DATA_DIR or DATABASE_URL.';

/** Runs `npm run ip-access-list`. */
const command = (env: Record<string, string>, ...args: string[]) => runCommand('ip-access-list', env, ...args);

it('an operator can undo a complete lockout on the host', async () => {
  const database: Record<string, string> =
    testDatabase === 'postgres'
      ? { DATABASE_URL: await createDatabase(), SECRET_KEY: 'the same secret key at every start' }
      : {};
  const env = { DATA_DIR: makeDir(), PORT: String(await freePort()), LOG_LEVEL: 'warn', ...database };
  const empty = await command(env);
  expect({ ...empty, stderr: empty.stderr.trim() }).toEqual({
    code: 1,
    stdout: '',
    stderr: notStarted,
  });

  let server = await startServer(env);
  const self = () => call(server, bootstrapToken, 'GET', '/v3/self');
  const away = { ip_ranges: ['198.51.100.0/24'] };
  expect((await call(server, bootstrapToken, 'PUT', path, away)).status).toBe(409);
  expect((await call(server, bootstrapToken, 'PUT', `${path}?force=true`, away)).status).toBe(200);
  expect((await self()).status).toBe(401);
  expect((await call(server, bootstrapToken, 'DELETE', path)).status).toBe(401);

  // An embedded database belongs to one process; on PostgreSQL the service continues meanwhile.
  if (testDatabase === 'pglite') await server.stop();
  const host = testDatabase === 'pglite' ? env : { ...env, DATA_DIR: makeDir() };
  expect(await command(host, 'add', '127.0.0.9/8', '::1')).toMatchObject({
    code: 0,
    stdout: '198.51.100.0/24\n127.0.0.0/8\n::1\n',
  });
  if (testDatabase === 'pglite') server = await startServer(env);
  // The command sends no notification: processes see the change when they next read the epoch of keys.
  await expect.poll(async () => (await self()).status).toBe(200);
  await server.stop();
  expect(await command(host, 'clear')).toMatchObject({
    code: 0,
    stdout: 'The list is empty: every address is allowed.\n',
  });
  expect(await command(host, 'open')).toMatchObject({ code: 1, stderr: expect.stringMatching(/^Usage:/) });
}, 240_000);

it('creates no token for a database without an installation', async () => {
  const { code, stdout, stderr } = await runCommand('token', { DATA_DIR: makeDir() });
  expect({ code, stdout, stderr: stderr.trim() }).toEqual({
    code: 1,
    stdout: '',
    stderr: `No token was made.\n${notStarted}`,
  });
});
