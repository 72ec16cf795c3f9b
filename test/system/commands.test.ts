import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { listeningAddress, serviceAddress } from '../../src/http/listen.ts';
import { graphql } from '../support/app.ts';
import { bootstrapToken, freePort, runCommand, startServer } from '../support/server.ts';
import { firstOrganizationId } from '../support/sessions.ts';
import { createDatabase, testDatabase } from '../support/test-store.ts';

type Environment = Record<string, string>;

function makeDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'switchyard-commands-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

async function makeEnv(): Promise<Environment> {
  const database: Environment =
    testDatabase === 'postgres'
      ? { DATABASE_URL: await createDatabase(), SECRET_KEY: 'the same secret key at every start' }
      : {};
  return { DATA_DIR: makeDir(), PORT: String(await freePort()), LOG_LEVEL: 'warn', ...database };
}

it.each([
  ['127.0.0.1', 'http://127.0.0.1:4000'],
  ['0.0.0.0', 'http://localhost:4000'],
  ['::', 'http://localhost:4000'],
  ['::1', 'http://[::1]:4000'],
])('a service at HOST %s has the URL %s unless BASE_URL sets another', (host, address) => {
  expect(listeningAddress(host, 4_000)).toBe(address);
  expect(serviceAddress({ host, port: 4_000, baseUrl: null })).toBe(address);
  expect(serviceAddress({ host, port: 4_000, baseUrl: 'https://a.example' })).toBe('https://a.example');
});

it.each([{}, { BASE_URL: 'https://switchyard.example/' }])(
  'a link of "token" has the origin of the sessions’ URLs: %j',
  async (more) => {
    const env = { ...(await makeEnv()), ...more };
    const server = await startServer(env);
    const query = 'mutation($input: CreateSessionInput!) { createSession(input: $input) { session { url } } }';
    const organizationId = await firstOrganizationId(server, bootstrapToken);
    const { data } = await graphql(server, bootstrapToken, query, { input: { organizationId, prompt: 'say one' } });
    await server.stop();
    const { code, stderr } = await runCommand('token', env);
    expect(code).toBe(0);
    const link = /http\S+\/sign-in#link=/.exec(stderr)?.[0] ?? '';
    expect(new URL(link).origin).toBe(new URL(data.createSession.session.url).origin);
  },
);

const commands = [
  ['token', []],
  ['ip-access-list', []],
  ['schedules', ['migrate', 'org-0']],
] as const;

it.each(commands)('%s creates no database if there is none, and leaves nothing behind', async (name, args) => {
  const dataDir = join(makeDir(), 'data');
  const { code, stderr } = await runCommand(name, { DATA_DIR: dataDir }, ...args);
  expect(code).toBe(1);
  expect(stderr).toContain('This database is empty: no service was ever started on it.');
  expect(existsSync(dataDir)).toBe(false);
});

it('reports that the service has locked the data directory, and prints its usage also then', async () => {
  const env = await makeEnv();
  const server = await startServer(env);
  const { code, stderr } = await runCommand('token', env);
  expect(code).toBe(1);
  expect(stderr).toContain(`is in use by another Switchyard process (pid ${server.pid} `);
  expect(stderr).toContain('Stop it while the command runs');
  // On an embedded database, another directory would be another database.
  expect(stderr.includes('DATA_DIR of its own')).toBe(testDatabase === 'postgres');
  expect(stderr).not.toContain('set DATA_DIR to another directory');
  const misused = await runCommand('ip-access-list', env, 'bogus');
  expect(misused).toMatchObject({ code: 1, stderr: expect.stringMatching(/^Usage:/) });
});
