import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { deletedIn, sessionsIn } from '../../src/agents/sandbox/local/session-directories.ts';
import { call, graphql, startApp, type TestApp } from '../support/app.ts';
import { stopClock } from '../support/clock.ts';
import { mutationDocument } from '../support/mutations.ts';
import { readMessages, waitForSession, waitUntilEnded, waitUntilWaiting } from '../support/session-waits.ts';
import { createSession } from '../support/sessions.ts';
import { directoryOf, homeWorkerOf, readDeletedAt, sweep, waitUntilReleased } from '../support/workspaces.ts';

const dayMs = 86_400_000;

async function start(): Promise<TestApp> {
  const test = await startApp({ roles: ['api', 'worker'] });
  onTestFinished(() => test.close());
  return test;
}

async function mutate(test: TestApp, name: string, id: string) {
  const selection = 'session { workspaceDeletedAt workspaceDeletionRequestedAt } userErrors { code message }';
  const { data, errors } = await graphql(test, test.adminToken, mutationDocument(name, selection), {
    input: { sessionId: id },
  });
  if (errors) throw new Error(JSON.stringify(errors));
  return data[name];
}

it('an ended session loses its workspace and home after WORKSPACE_RETENTION_DAYS, and keeps its log', async () => {
  const test = await start();
  const clock = stopClock(test);
  const ended = await createSession(test, { prompt: 'write a.txt hello\nask More?' });
  await waitUntilWaiting(test, ended);
  const finished = await createSession(test, { prompt: 'write a.txt hello' });
  await waitUntilEnded(test, finished);
  await mutate(test, 'terminateSession', ended).catch(() => undefined);
  await waitUntilEnded(test, ended);
  const workerId = await homeWorkerOf(test, ended);
  await waitUntilReleased(test, ended);

  clock.advance(13 * dayMs);
  expect(await sweep(test, { workerId })).toBe(0);
  expect(existsSync(directoryOf(test, ended))).toBe(true);
  clock.advance(2 * dayMs);
  expect(await sweep(test, { workerId, workspaceRetentionMs: null })).toBe(0);
  expect(await sweep(test, { workerId })).toBe(1);
  expect([existsSync(directoryOf(test, ended)), existsSync(directoryOf(test, finished))]).toEqual([false, true]);
  expect(readdirSync(deletedIn(test.dataDir))).toEqual([]);
  expect(await readDeletedAt(test, ended)).not.toBeNull();
  expect((await readMessages(test, ended)).length).toBeGreaterThan(0);
});

it('an archived session keeps its workspace for WORKSPACE_RETENTION_DAYS after it was archived', async () => {
  const test = await start();
  const clock = stopClock(test);
  const id = await createSession(test, { prompt: 'write a.txt hello\nask More?' });
  await waitUntilWaiting(test, id);
  clock.advance(20 * dayMs);
  expect(await mutate(test, 'archiveSession', id)).toMatchObject({ userErrors: [] });
  const workerId = await homeWorkerOf(test, id);
  await waitUntilReleased(test, id);
  expect(await sweep(test, { workerId })).toBe(0);
  expect(existsSync(directoryOf(test, id))).toBe(true);
  clock.advance(15 * dayMs);
  expect(await sweep(test, { workerId })).toBe(1);
});

it('a session with a deleted workspace starts with an empty one, which the log and the agent mention', async () => {
  const test = await start();
  const id = await createSession(test, { prompt: 'write a.txt hello' });
  await waitUntilEnded(test, id);
  expect(existsSync(join(directoryOf(test, id), 'ws/a.txt'))).toBe(true);

  expect(await mutate(test, 'deleteSessionWorkspace', id)).toMatchObject({ userErrors: [] });
  await expect.poll(() => readDeletedAt(test, id), { interval: 20 }).not.toBeNull();
  await expect.poll(() => existsSync(directoryOf(test, id)), { interval: 20 }).toBe(false);
  // A second request changes nothing.
  const again = await mutate(test, 'deleteSessionWorkspace', id);
  expect(again).toMatchObject({ session: { workspaceDeletionRequestedAt: null }, userErrors: [] });
  const [counts] = await test.app.services.store.query<{ count: number }>(
    `select count(*)::int as count from audit_entry where action = 'delete_session_workspace' and session_id = $1`,
    [id],
  );
  expect(counts?.count).toBe(1);

  const path = `/v3/organizations/org-${test.organizationId}/sessions/devin-${id}/messages`;
  expect((await call(test, test.adminToken, 'POST', path, { message: 'list' })).status).toBe(200);
  await waitForSession(test, id, ({ status }) => status === 'RUNNING');
  await waitUntilEnded(test, id);
  const { data } = await graphql(
    test,
    test.adminToken,
    'query($id: ID!) { session(id: $id) { workspaceDeletedAt events(first: 100) { nodes { ... on NoticeEvent { body } } } } }',
    { id },
  );
  expect(JSON.stringify(data)).toContain('The workspace of this session was deleted');
  expect(data.session.workspaceDeletedAt).toBeNull();
  expect(existsSync(join(directoryOf(test, id), 'ws/a.txt'))).toBe(false);
  expect(existsSync(join(directoryOf(test, id), 'ws'))).toBe(true);
});

it('a running session keeps its workspace, for every caller', async () => {
  const test = await start();
  const id = await createSession(test, { prompt: 'write a.txt hello\nask More?' });
  await waitUntilWaiting(test, id);
  const refused = await mutate(test, 'deleteSessionWorkspace', id);
  expect(refused.userErrors).toMatchObject([{ code: 'INVALID_STATE' }]);
  const workerId = await homeWorkerOf(test, id);
  await test.app.services.store.execute(
    'update run set workspace_deletion_requested_at = now() where session_id = $1',
    [id],
  );
  expect(await sweep(test, { workerId })).toBe(0);
  expect(existsSync(join(directoryOf(test, id), 'ws/a.txt'))).toBe(true);
});

it('a crash between the record and the deletion leaves no old workspace to a resumed session', async () => {
  const test = await start();
  const id = await createSession(test, { prompt: 'write a.txt hello' });
  await waitUntilEnded(test, id);
  await test.app.services.store.execute('update run set workspace_deleted_at = now() where session_id = $1', [id]);
  await mutate(test, 'deleteSessionWorkspace', id);
  const path = `/v3/organizations/org-${test.organizationId}/sessions/devin-${id}/messages`;
  // Its warm agent is stopped first, so a new one gets the message.
  await test.app.services.store.execute(
    'with r as (update run set generation = generation + 1 where session_id = $1 returning generation) update session_head h set generation = r.generation from r where h.session_id = $1',
    [id],
  );
  test.app.services.notifier.notify(`command:${id}`);
  await waitUntilReleased(test, id);
  await call(test, test.adminToken, 'POST', path, { message: 'write b.txt hello' });
  await waitForSession(test, id, ({ status }) => status === 'RUNNING');
  await waitUntilEnded(test, id);
  expect(readdirSync(join(directoryOf(test, id), 'ws')).filter((name) => name.endsWith('.txt'))).toEqual(['b.txt']);
});

it('directories of unknown sessions are deleted after the same time, but not if the database is another one', async () => {
  const test = await start();
  const id = await createSession(test, { prompt: 'write a.txt hello' });
  await waitUntilEnded(test, id);
  const workerId = await homeWorkerOf(test, id);
  const old = new Date(Date.now() - 20 * dayMs);
  const make = (name: string, time: Date) => {
    const path = join(sessionsIn(test.dataDir), name);
    mkdirSync(join(path, 'ws'), { recursive: true });
    for (const each of [join(path, 'ws'), path]) utimesSync(each, time, time);
    return path;
  };
  const orphan = make('0'.repeat(32), old);
  const young = make('1'.repeat(32), new Date());
  const strange = make('not-a-session', old);

  const owner = join(sessionsIn(test.dataDir), '.enterprise');
  writeFileSync(owner, 'another\n');
  expect(await sweep(test, { workerId })).toBe(0);
  expect(existsSync(orphan)).toBe(true);
  writeFileSync(owner, test.app.installation.enterpriseId);
  expect(await sweep(test, { workerId })).toBe(1);
  expect([orphan, young, strange].map((path) => existsSync(path))).toEqual([false, true, true]);
  expect(existsSync(directoryOf(test, id))).toBe(true);
});

it('kills a process that an agent left in a deleted workspace', async () => {
  const test = await start();
  const id = await createSession(test, { prompt: 'write a.txt hello' });
  await waitUntilEnded(test, id);
  const workspace = join(directoryOf(test, id), 'ws');
  symlinkSync(test.dataDir, join(workspace, 'outside'));
  const writer = 'let n = 0; for (;;) { try { require("fs").writeFileSync("f" + (n++ % 50), "x"); } catch {} }';
  const orphan = spawn(process.execPath, ['-e', writer], { cwd: workspace, stdio: 'ignore', detached: true, env: {} });
  const gone = new Promise((resolve) => orphan.once('exit', resolve));
  await mutate(test, 'deleteSessionWorkspace', id);
  await gone;
  await expect.poll(() => readdirSync(deletedIn(test.dataDir)), { interval: 20 }).toEqual([]);
  expect(existsSync(join(test.dataDir, 'worker.id'))).toBe(true);
});

it('a worker that never had a session cleans up too', async () => {
  const test = await startApp();
  onTestFinished(() => test.close());
  expect(await sweep(test, { workerId: 'w' })).toBe(0);
  expect(readdirSync(sessionsIn(test.dataDir))).toContain('.enterprise');
});
