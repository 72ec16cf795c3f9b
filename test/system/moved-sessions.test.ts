import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createLocalWorkspaces } from '../../src/agents/sandbox/local/local-workspaces.ts';
import { deleteDiscarded, sweepWorkspaces } from '../../src/domain/execution/workspaces/sweep.ts';
import { asSystem } from '../../src/domain/sessions/as-system.ts';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { makeDirectory } from '../support/git-forge.ts';
import { writeProfiles } from '../support/profiles.ts';
import { sendMessage } from '../support/reports.ts';
import { waitUntilEnded } from '../support/session-waits.ts';
import { createSession } from '../support/sessions.ts';
import { testDatabase } from '../support/test-store.ts';
import { directoryOf, waitUntilReleased } from '../support/workspaces.ts';

/** An app that serves the API, and workers with data directories of their own; they share the database and the files. */
async function start() {
  const shared = {
    agentsConfig: await writeProfiles({ sandbox: 'none', warm_ttl_ms: 60_000 }),
    attachmentsDir: await makeDirectory(),
    maxConcurrentSessions: 4,
  };
  const api = await startApp({ ...shared, roles: ['api'] });
  onTestFinished(() => api.close());
  const startWorker = async () => {
    const worker = await api.another({ ...shared, roles: ['worker'] });
    let closing: Promise<void> | null = null;
    const close = () => {
      closing ??= worker.close();
      return closing;
    };
    onTestFinished(close);
    const workerId = (await readFile(join(worker.dataDir, 'worker.id'), 'utf8')).trim();
    return { ...worker, workerId, close };
  };
  const { store } = api.app.services;
  const act = async (name: 'drainWorker' | 'undrainWorker', workerId: string) => {
    const type = `${name[0]?.toUpperCase()}${name.slice(1)}Input`;
    const document = `mutation($input: ${type}!) { ${name}(input: $input) { userErrors { code } } }`;
    expect((await graphql(api, api.adminToken, document, { input: { workerId } })).data[name].userErrors).toEqual([]);
  };
  const homeOf = async (id: string) =>
    (
      await store.query<{ home: string | null }>('select home_worker_id as home from run where session_id = $1', [id])
    )[0]?.home;
  const noticesOf = async (id: string) =>
    (
      await store.query<{ body: string }>(
        `select body from log_entry where session_id = $1 and kind = 'NOTICE' and data ? 'workspace' order by seq`,
        [id],
      )
    ).map(({ body }) => body);
  const sweep = async (worker: { readonly dataDir: string; readonly workerId: string }) => {
    const context = asSystem(api.app.services, api.app.installation.enterpriseId);
    const workspaces = [createLocalWorkspaces(worker.dataDir)];
    const times = { workspaceRetentionMs: null, workspaceInactiveMs: null, workspaceReleaseMs: -1_000 };
    const { workerId } = worker;
    await sweepWorkspaces(context, { workspaces, workerId, ...times, isLeased: () => false }, () => false);
    await deleteDiscarded(context, workspaces, () => false);
  };
  const attachmentsOf = async (id: string) =>
    (
      await store.query<{ name: string }>(
        'select name from attachment where session_id = $1 order by created_at, name',
        [id],
      )
    ).map(({ name }) => name);
  return { api, startWorker, act, homeOf, noticesOf, attachmentsOf, sweep, store };
}

const filesOf = async (worker: Pick<TestApp, 'dataDir'>, id: string) =>
  (await readdir(join(directoryOf(worker as TestApp, id), 'ws')).catch(() => [])).filter(
    (name) => !name.startsWith('.'),
  );

it.skipIf(testDatabase !== 'postgres')(
  'moves with its files when its worker is drained, stopped, or releases its space',
  async () => {
    const { api, startWorker, act, homeOf, noticesOf, attachmentsOf, sweep, store } = await start();
    const one = await startWorker();
    const id = await createSession(api, { prompt: 'write a.txt one\nwrite .session/outputs/report.md one' });
    await waitUntilEnded(api, id);
    const two = await startWorker();

    await act('drainWorker', one.workerId);
    await expect.poll(() => homeOf(id), { interval: 20 }).toBeNull();
    await sendMessage(api, id, 'write b.txt two');
    await waitUntilEnded(api, id);
    expect(await homeOf(id)).toBe(two.workerId);
    expect(await filesOf(two, id)).toEqual(['a.txt', 'b.txt']);
    expect(await noticesOf(id)).toEqual([expect.stringMatching(/^The workspace was restored to its state at /)]);
    // The record of collected files moves too.
    expect(await attachmentsOf(id)).toEqual(['report.md']);
    await sendMessage(api, id, 'write .session/outputs/report.md two');
    await waitUntilEnded(api, id);
    expect(await attachmentsOf(id)).toEqual(['report.md', 'report.md']);

    // As on SIGTERM. The copy of the first worker is of an earlier time.
    await act('undrainWorker', one.workerId);
    await two.close();
    expect(await homeOf(id)).toBeNull();
    await sendMessage(api, id, 'write c.txt three');
    await waitUntilEnded(api, id);
    expect(await filesOf(one, id)).toEqual(['a.txt', 'b.txt', 'c.txt']);

    // The agent has ended, as after its time as a warm one, and the session is put to sleep.
    await act('drainWorker', one.workerId);
    await waitUntilReleased(api, id);
    await store.execute('update run set home_worker_id = $2 where session_id = $1', [id, one.workerId]);
    await act('undrainWorker', one.workerId);
    await sweep(one);
    expect([await filesOf(one, id), await homeOf(id)]).toEqual([[], null]);
    await sendMessage(api, id, 'write d.txt four');
    await waitUntilEnded(api, id);
    expect(await filesOf(one, id)).toEqual(['a.txt', 'b.txt', 'c.txt', 'd.txt']);

    // A requested deletion leaves nothing, not even what only the storage has.
    await act('drainWorker', one.workerId);
    await waitUntilReleased(api, id);
    await graphql(
      api,
      api.adminToken,
      'mutation($input: ArchiveSessionInput!) { archiveSession(input: $input) { userErrors { message } } }',
      { input: { sessionId: id } },
    );
    const { data } = await graphql(
      api,
      api.adminToken,
      'mutation($input: DeleteSessionWorkspaceInput!) { deleteSessionWorkspace(input: $input) { userErrors { message } } }',
      { input: { sessionId: id } },
    );
    expect(data.deleteSessionWorkspace.userErrors).toEqual([]);
    expect(await store.query('select id from checkpoint where session_id = $1', [id])).toEqual([]);
    await sweep(one);
    expect(await filesOf(one, id)).toEqual([]);
  },
);
