import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openSession } from '../../src/store/postgres-session.ts';
import { graphql } from '../support/app.ts';
import { mutationDocument } from '../support/mutations.ts';
import { pgbouncer, startPooler } from '../support/pooler.ts';
import { onDatabase } from '../support/postgres-copies.ts';
import { pauseReplay, startCluster } from '../support/read-replicas.ts';
import { s3Credentials, startS3Server } from '../support/s3-server.ts';
import { bootstrapToken, freePort, runCommand, startServer } from '../support/server.ts';
import { makeDirectory, makeServerEnv } from '../support/server-env.ts';
import { createFirstSession, firstOrganizationId } from '../support/sessions.ts';
import { testDatabase } from '../support/test-store.ts';

interface Finding {
  readonly check: string;
  readonly level: 'ok' | 'warning' | 'error';
  readonly text: string;
  readonly fix: string | null;
}

/** Runs the doctor and returns its findings by check. */
async function examine(env: Record<string, string>, ...args: string[]) {
  const { code, stdout, stderr } = await runCommand('doctor', env, '--json', ...args);
  const { isHealthy, findings } = JSON.parse(stdout) as { isHealthy: boolean; findings: Finding[] };
  const of = (check: string) => findings.filter((finding) => finding.check === check);
  return { code, isHealthy, findings, of, stdout, stderr };
}

it('finds nothing wrong before the first start, and creates nothing', async () => {
  const { DATABASE_URL: _server, ...env } = await makeServerEnv();
  const dataDir = join(makeDirectory(), 'data');
  const { code, findings, of } = await examine({ ...env, DATA_DIR: dataDir });
  expect(findings.filter(({ level }) => level === 'error')).toEqual([]);
  expect(code).toBe(0);
  expect(of('database')[0]).toMatchObject({ level: 'ok', text: expect.stringContaining('the first start creates it') });
  expect(() => statSync(dataDir)).toThrow();
  const text = await runCommand('doctor', { ...env, DATA_DIR: dataDir });
  expect(text.stdout).toMatch(/^ok {7}settings {5}Every variable is valid\./);
  expect(text.stdout).toMatch(/\n0 errors, \d+ warnings\.\n$/);
});

/** The environment of a database that a service was started on and stopped, with a session and a secret of an organization. */
async function makeUsedEnv(): Promise<Record<string, string>> {
  const env = await makeServerEnv();
  const server = await startServer(env);
  const organizationId = await firstOrganizationId(server, bootstrapToken);
  await createFirstSession(server, bootstrapToken, `say ${plantedPrompt}`);
  const secret = { organizationId, type: 'KEY_VALUE', key: 'PLANTED', value: plantedSecret };
  const document = mutationDocument('createSecret', 'secret { secretId } userErrors { message }');
  const { data } = await graphql(server, bootstrapToken, document, { input: secret });
  expect(data.createSecret.userErrors).toEqual([]);
  await server.stop();
  return env;
}

const plantedPrompt = 'a-prompt-that-nobody-else-may-read';
const plantedSecret = 'a-secret-of-an-organization';

it('checks the database, the key and the address of a service, while it runs and afterwards', async () => {
  const env = await makeUsedEnv();
  const stopped = await examine(env);
  expect(stopped.findings.filter(({ level }) => level === 'error')).toEqual([]);
  expect(stopped.of('database')[0]?.text).toMatch(/^PostgreSQL \d+/);
  expect(stopped.of('migrations')[0]?.text).toMatch(/^All \d+ are applied\.$/);
  expect(stopped.of('key')[0]?.text).toBe('SECRET_KEY fits this database, and decrypts its secrets (1 tried).');
  expect(stopped.of('clock')[0]?.level).toBe('ok');
  expect(stopped.of('port')[0]?.text).toMatch(/ is free\.$/);
  expect(stopped.of('agents')[0]).toMatchObject({
    level: 'ok',
    text: expect.stringMatching(/^demo \(the default\): /),
  });
  const server = await startServer(env);
  const running = await examine(env);
  expect(running.of('port')[0]).toMatchObject({ level: 'ok', text: expect.stringMatching(/^A service answers at /) });
  expect(running.of('database')[0]?.level).toBe(testDatabase === 'postgres' ? 'ok' : 'warning');
  await server.stop();
  const other = await examine({ ...env, SECRET_KEY: 'a key that is not the one of this database' });
  expect(other).toMatchObject({ code: 1, isHealthy: false });
  expect(other.of('key')[0]).toMatchObject({
    level: 'error',
    text: expect.stringContaining('is not the key of this database'),
  });
});

it('tells a database of a newer version, and migrations that are missing', async (context) => {
  if (testDatabase !== 'postgres') return context.skip();
  const env = await makeUsedEnv();
  const run = (sql: string) => openSession(env.DATABASE_URL ?? '', (session) => session.script(sql));
  await run(
    `delete from _prisma_migrations where migration_name = (select max(migration_name) from _prisma_migrations)`,
  );
  const older = await examine(env);
  expect(older.of('migrations')[0]).toMatchObject({
    level: 'warning',
    text: expect.stringMatching(/^1 are missing: \d+_/),
  });
  expect(older.code).toBe(0);
  await run(
    `insert into _prisma_migrations (id, checksum, migration_name, finished_at) values ('1', '', '99990101000000_newer', now())`,
  );
  const newer = await examine(env);
  expect(newer.of('migrations')[0]).toMatchObject({
    level: 'error',
    text: expect.stringContaining('it was used by a newer version'),
  });
  expect(newer.code).toBe(1);
});

it('recognizes a pooler in transaction mode', async (context) => {
  if (testDatabase !== 'postgres' || !pgbouncer) return context.skip();
  const env = await makeServerEnv();
  const pooler = await startPooler('transaction', { databaseUrl: env.DATABASE_URL as string });
  const { of } = await examine({ ...env, DATABASE_URL: pooler });
  expect(of('database')[0]).toMatchObject({
    level: 'error',
    text: expect.stringContaining('a connection pooler in transaction mode'),
    fix: expect.stringContaining('pool_mode = session'),
  });
  const direct = await examine({ ...env, DATABASE_URL: pooler, DATABASE_DIRECT_URL: env.DATABASE_URL as string });
  expect(direct.of('pooler')[0]).toMatchObject({
    level: 'ok',
    text: expect.stringMatching(/^The pooler at 127\.0\.0\.1:\d+, database "\w+" leads to this database\.$/),
  });
  const other = { DATABASE_URL: await startPooler('transaction'), DATABASE_DIRECT_URL: env.DATABASE_URL as string };
  expect((await examine({ ...env, ...other })).of('pooler')[0]).toMatchObject({
    level: 'error',
    text: expect.stringContaining('lead to different databases'),
  });
});

it('says which read replicas can be used, and how far they are behind', async (context) => {
  if (testDatabase !== 'postgres') return context.skip();
  const primary = await startCluster();
  const standby = await startCluster({ standbyOf: primary.url });
  const { DATABASE_URL: _server, ...env } = await makeServerEnv();
  const read = async (urls: readonly string[]) => {
    const DATABASE_REPLICA_URLS = urls.join();
    const all = { DATABASE_URL: primary.url, DATABASE_REPLICA_URLS, DATABASE_REPLICA_MAX_LAG_MS: '2000' };
    return (await examine({ ...env, ...all })).of('replica');
  };
  const [usable, wrong, missing] = await read([standby.url, primary.url, 'postgres://127.0.0.1:1/postgres']);
  expect(usable).toMatchObject({
    level: 'ok',
    text: expect.stringMatching(
      /^The read replica at 127\.0\.0\.1:\d+, database "postgres" is a standby, at most \d+ ms behind\.$/,
    ),
  });
  expect(wrong).toMatchObject({ level: 'error', text: expect.stringContaining('is not a standby') });
  expect(missing).toMatchObject({ level: 'warning', text: expect.stringContaining('ECONNREFUSED') });
  await pauseReplay(standby);
  await onDatabase(primary.url, 'create table behind (n int)');
  expect(await read([standby.url])).toMatchObject([
    { level: 'warning', text: expect.stringContaining('more than 2000 ms behind the primary') },
  ]);
});

it('finds what is wrong with settings, ports, addresses, agents and TLS, and names the remedy', async () => {
  const { DATABASE_URL: _server, ...env } = await makeServerEnv();
  const invalid = await examine({ ...env, PORT: 'many', SECRET_KEY: 'short-and-secret' });
  expect(invalid.of('settings')[0]).toMatchObject({
    level: 'error',
    text: expect.stringContaining('PORT must be a number.'),
  });
  expect(invalid.stdout).not.toContain('short-and-secret');

  const port = await freePort();
  const stranger = createServer((socket) => socket.end()).listen(port, '127.0.0.1');
  onTestFinished(() => void stranger.close());
  const agents = join(makeDirectory(), 'agents.json');
  writeFileSync(agents, JSON.stringify({ agents: [{ id: 'mine', command: ['/nowhere/agent'] }], default: 'mine' }));
  const { code, of } = await examine({
    ...env,
    PORT: String(port),
    SANDBOX: 'none',
    AGENTS_CONFIG: agents,
    BASE_URL: 'http://service.example',
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
    DATA_DIR: '/sys/data',
  });
  expect(code).toBe(1);
  expect(of('port')[0]).toMatchObject({ level: 'error', text: expect.stringContaining('Another process') });
  expect(of('sandbox')[0]?.level).toBe('warning');
  expect(of('agents')).toContainEqual(
    expect.objectContaining({ level: 'error', text: 'mine (the default): there is no program "/nowhere/agent".' }),
  );
  expect(of('tls').map(({ level }) => level)).toEqual(['warning', 'error']);
  expect(of('data')[0]).toMatchObject({ level: 'error', text: expect.stringContaining('/sys') });
  const unreachable = await examine({ ...env, DATABASE_URL: 'postgres://user:swordfish@127.0.0.1:1/x' });
  expect(unreachable.of('database')[0]).toMatchObject({ level: 'error', text: expect.stringContaining('127.0.0.1:1') });
  expect(unreachable.stdout).not.toContain('swordfish');
});

it('writes a bundle without secrets, prompts and passwords, once', async () => {
  const env = await makeUsedEnv();
  const directory = makeDirectory();
  mkdirSync(join(directory, 'files'));
  const keyFile = join(directory, 'files/key');
  writeFileSync(keyFile, 'sk-planted-in-a-file\n');
  const log = join(directory, 'log');
  const planted = ['planted-user-password', 'planted-proxy-password', 'sk-planted-key', 'sk-planted-in-a-file'];
  const lines = [
    {
      level: 30,
      time: 1,
      url: 'https://a:planted-user-password@host/x',
      msg: 'Fetched https://a:planted-user-password@host/x?token=1.',
    },
    { level: 50, time: 2, prompt: plantedPrompt, sessionId: 'devin-1', msg: `Refused Bearer ${bootstrapToken}.` },
    {
      level: 50,
      time: 3,
      err: {
        type: 'Error',
        code: 'E1',
        message: plantedPrompt,
        stack: `Error: ${plantedPrompt}\n    at run (app.js:1:1)`,
      },
      msg: 'Failed.',
    },
    { level: 40, time: 4, msg: 'The key sk-planted-in-a-file and sk-planted-key were refused.' },
  ];
  writeFileSync(
    log,
    `  Administrator's token   ${bootstrapToken}\n${lines.map((line) => JSON.stringify(line)).join('\n')}\n`,
  );
  const bundle = join(directory, 'bundle.json');
  const variables = {
    ...env,
    BOOTSTRAP_TOKEN: bootstrapToken,
    OPENAI_API_KEY: 'sk-planted-key',
    ANTHROPIC_API_KEY_FILE: keyFile,
    HTTPS_PROXY: 'http://proxy:planted-proxy-password@proxy.example:3128',
    BASE_URL: 'https://a:planted-user-password@service.example',
  };
  const { code, stderr, stdout } = await examine(variables, '--bundle', bundle, '--log', log);
  expect(code).toBe(0);
  expect(stderr).toContain(`The bundle is in ${bundle}.`);
  expect(statSync(bundle).mode & 0o777).toBe(0o600);
  const text = readFileSync(bundle, 'utf8');
  for (const each of [...planted, plantedPrompt, plantedSecret, bootstrapToken, env.SECRET_KEY ?? 'no key']) {
    expect(text).not.toContain(each);
    expect(stdout + stderr).not.toContain(each);
  }
  const parsed = JSON.parse(text);
  expect(parsed).toMatchObject({
    settings: { BASE_URL: 'https://service.example', BOOTSTRAP_TOKEN: '(secret)' },
    database: { rows: { session: 1, secret: 1 }, migrations: { missing: [], problem: null } },
    log: { leftOut: 1 },
  });
  expect(parsed.log.lines).toHaveLength(lines.length);
  expect(parsed.log.lines[1]).toEqual({ level: 50, time: 2, sessionId: 'devin-1', msg: 'Refused Bearer ********.' });
  expect(parsed.log.lines[2].err).toEqual({ type: 'Error', code: 'E1', stack: ['at run (app.js:1:1)'] });
  const again = await runCommand('doctor', variables, '--bundle', bundle);
  expect(again.code).toBe(2);
  expect(readFileSync(bundle, 'utf8')).toBe(text);
  rmSync(bundle);
});

it('tells if the bucket can be read, by the reason and without its keys', async () => {
  const s3 = await startS3Server();
  onTestFinished(() => s3.close());
  const { DATABASE_URL: _server, ...env } = await makeServerEnv();
  const bucket = {
    ...env,
    DATA_DIR: join(makeDirectory(), 'data'),
    S3_BUCKET: 'files',
    S3_ENDPOINT: s3.endpoint,
    S3_ACCESS_KEY_ID: s3Credentials.accessKeyId,
    S3_SECRET_ACCESS_KEY: s3Credentials.secretAccessKey,
  };
  const { host } = new URL(s3.endpoint);
  expect((await examine(bucket)).of('bucket')).toEqual([
    { check: 'bucket', level: 'ok', text: `files at ${host} can be read.`, fix: null },
  ]);
  expect(s3.requests.every((request) => request.startsWith('GET '))).toBe(true);
  s3.fail(403, 'AccessDenied');
  const refused = await examine(bucket);
  expect(refused.of('bucket')).toEqual([
    {
      check: 'bucket',
      level: 'error',
      text: `files at ${host} cannot be read (AccessDenied).`,
      fix: expect.stringContaining('s3:PutObject'),
    },
  ]);
  expect(refused.code).toBe(1);
  const gone = await examine({ ...bucket, S3_ENDPOINT: `http://127.0.0.1:${await freePort()}` });
  expect(gone.of('bucket')[0]?.text).toContain('(ECONNREFUSED)');
  expect(refused.stdout + refused.stderr + gone.stdout + gone.stderr).not.toContain(s3Credentials.secretAccessKey);
});
