import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { call, graphql } from '../support/app.ts';
import { bootstrapToken, freePort, runCommand, type ServerProcess, startServer } from '../support/server.ts';
import { waitUntilEnded, waitUntilWaiting } from '../support/session-waits.ts';
import { createDatabase, testDatabase } from '../support/test-store.ts';

// Each test starts several processes in sequence.
vi.setConfig({ testTimeout: 240_000 });

const isServer = testDatabase === 'postgres';

/** Creates a folder for data directories, and the environment of a service in one of them. */
async function makeFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-copies-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const database: Record<string, string> = isServer
    ? { DATABASE_URL: await createDatabase(), SECRET_KEY: 'the same secret key at every start' }
    : {};
  const envOf = async (name: string) => ({
    DATA_DIR: join(folder, name),
    PORT: String(await freePort()),
    LOG_LEVEL: 'warn',
    SANDBOX: 'none',
    ...database,
  });
  return { folder, envOf };
}

const as = (server: ServerProcess) => ({ url: server.url, adminToken: bootstrapToken });

async function createAsking(server: ServerProcess): Promise<string> {
  const { body } = await call(server, bootstrapToken, 'GET', '/v3/enterprise/organizations');
  const path = `/v3/organizations/${body.items[0].org_id}/sessions`;
  const made = await call(server, bootstrapToken, 'POST', path, { prompt: 'write a.txt hello\nask More?' });
  const id: string = made.body.session_id;
  await waitUntilWaiting(as(server), id);
  return id;
}

const answer = (server: ServerProcess, id: string) =>
  graphql(
    server,
    bootstrapToken,
    'mutation($input: SendMessageInput!) { sendMessage(input: $input) { userErrors { message } } }',
    {
      input: { sessionId: id, body: 'Yes' },
    },
  );

const agentPidsOf = (dataDir: string): number[] =>
  execFileSync('sh', ['-c', `grep -ho '"pid":[0-9]*' "$1"/agents/*.json`, 'sh', dataDir], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => Number(line.replace('"pid":', '')));

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const idOf = (dataDir: string) => readFileSync(join(dataDir, 'worker.id'), 'utf8').trim();

it('a copy of a data directory that starts beside the original leaves its agents alone', async () => {
  const { folder, envOf } = await makeFolder();
  const env = await envOf('original');
  const original = await startServer(env);
  const id = await createAsking(original);
  const pids = agentPidsOf(env.DATA_DIR);
  expect(pids.length).toBeGreaterThan(0);

  execFileSync('cp', ['-a', env.DATA_DIR, join(folder, 'copy')]);
  rmSync(join(folder, 'copy', 'lock'));
  const copyEnv = await envOf('copy');
  const copy = await startServer(copyEnv);
  expect(pids.filter((pid) => !isRunning(pid))).toEqual([]);
  expect(idOf(copyEnv.DATA_DIR)).not.toBe(idOf(env.DATA_DIR));
  expect(copy.output()).toContain('The data directory is a copy');
  // The same agent receives the answer, with the same lease.
  await answer(original, id);
  await waitUntilEnded(as(original), id);
  expect(await copy.stop()).toBe(0);
  expect(await original.stop()).toBe(0);
});

it('a stopped copy of an embedded installation starts in maintenance mode, and has its workspaces once released', async () => {
  if (isServer) return;
  const { folder, envOf } = await makeFolder();
  const env = await envOf('original');
  let original = await startServer(env);
  const id = await createAsking(original);
  await original.stop();
  execFileSync('cp', ['-a', env.DATA_DIR, join(folder, 'copy')]);

  const copyEnv = await envOf('copy');
  let copy = await startServer(copyEnv);
  expect(await (await fetch(`${copy.url}/readyz`)).text()).toContain('maintenance mode');
  await copy.stop();
  copy = await startServer(copyEnv);
  expect(await (await fetch(`${copy.url}/readyz`)).text()).toContain('maintenance mode');
  await copy.stop();
  const ended = await runCommand('maintenance', copyEnv, 'end');
  expect(ended).toMatchObject({ code: 0, stdout: 'Maintenance mode is off.\n' });
  copy = await startServer(copyEnv);
  expect(await (await fetch(`${copy.url}/readyz`)).text()).toBe('ready\n');
  await answer(copy, id);
  await waitUntilEnded(as(copy), id);
  const events = await graphql(
    copy,
    bootstrapToken,
    'query($id: ID!) { session(id: $id) { events(first: 100) { nodes { ... on NoticeEvent { body } } } } }',
    { id },
  );
  expect(JSON.stringify(events.data)).not.toContain('Another worker');
  expect(readFileSync(join(copyEnv.DATA_DIR, 'sessions', id.replace('devin-', ''), 'ws/a.txt'), 'utf8')).toContain(
    'hello',
  );

  // The original was moved, not copied, so it continues.
  renameSync(env.DATA_DIR, join(folder, 'moved'));
  const movedEnv = await envOf('moved');
  const before = idOf(movedEnv.DATA_DIR);
  original = await startServer(movedEnv);
  expect(await (await fetch(`${original.url}/readyz`)).text()).toBe('ready\n');
  expect(idOf(movedEnv.DATA_DIR)).toBe(before);
  await answer(original, id);
  await waitUntilEnded(as(original), id);
  await Promise.all([copy.stop(), original.stop()]);
});

const terminate = async (server: ServerProcess, id: string) => {
  const document =
    'mutation($input: TerminateSessionInput!) { terminateSession(input: $input) { userErrors { message } } }';
  await graphql(server, bootstrapToken, document, { input: { sessionId: id } });
  await waitUntilEnded(as(server), id);
};

it('the command lists workspaces and deletes those of ended sessions', async () => {
  const { folder, envOf } = await makeFolder();
  const env = await envOf('original');
  const server = await startServer(env);
  const id = await createAsking(server);
  if (isServer) {
    const refused = await runCommand('workspaces', env, 'delete', id);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('uses its workspace') });
  }
  await terminate(server, id);
  if (!isServer) await server.stop();
  const host = { ...env, DATA_DIR: env.DATA_DIR };
  const listed = await runCommand('workspaces', host, 'list');
  expect(listed.stdout).toMatch(new RegExp(`${id} +exit, over|${id}  exit, over`));
  const deleted = await runCommand('workspaces', host, 'delete', '--over');
  expect(deleted).toMatchObject({ code: 0, stderr: '' });
  const workspace = join(folder, 'original/sessions', id.replace('devin-', ''));
  await expect
    .poll(() => runCommand('workspaces', host, 'list').then(({ stdout }) => stdout))
    .toContain('0 workspaces');
  expect(() => readFileSync(join(workspace, 'ws/a.txt'))).toThrow('ENOENT');
  if (isServer) await server.stop();
});

it('the command leaves the workspaces of sessions that a legal hold covers, and says so', async () => {
  const { folder, envOf } = await makeFolder();
  const env = await envOf('original');
  const server = await startServer(env);
  const [held, free] = [await createAsking(server), await createAsking(server)];
  for (const id of [held, free]) await terminate(server, id);
  const made = await graphql(
    server,
    bootstrapToken,
    'mutation($input: CreateLegalHoldInput!) { createLegalHold(input: $input) { userErrors { message } } }',
    { input: { target: { sessionId: held }, reason: 'A request of a court' } },
  );
  expect(made.data.createLegalHold.userErrors).toEqual([]);
  if (!isServer) await server.stop();

  const refusal = `devin-${held}: A legal hold covers the session: nothing of it can be deleted until the hold is released.\n`;
  const named = await runCommand('workspaces', env, 'delete', held);
  expect(named).toMatchObject({ code: 1, stderr: refusal });
  const { stdout: listed } = await runCommand('workspaces', env, 'list');
  expect(listed).toContain(`${held}  exit, over, held\n`);
  expect(listed).toContain(`${free}  exit, over\n`);

  const deleted = await runCommand('workspaces', env, 'delete', '--over');
  expect(deleted).toMatchObject({ code: 0, stderr: refusal, stdout: expect.stringContaining('1 stay') });
  await expect
    .poll(() => runCommand('workspaces', env, 'list').then(({ stdout }) => stdout))
    .toMatch(new RegExp(`^ +[0-9.]+  devin-${held}  exit, over, held\n +[0-9.]+  1 workspaces\n$`));
  const fileOf = (id: string) => join(folder, 'original/sessions', id.replace('devin-', ''), 'ws/a.txt');
  expect(readFileSync(fileOf(held), 'utf8').trim()).toBe('hello');
  expect(() => readFileSync(fileOf(free))).toThrow('ENOENT');
  if (isServer) await server.stop();
});
