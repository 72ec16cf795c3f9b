import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readNewestCheckpoint } from '../../src/domain/checkpoints/checkpoint.ts';
import { sweepCheckpoints } from '../../src/domain/checkpoints/sweep-checkpoints.ts';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { readSegments, readWorkspaceFiles } from '../support/checkpoints.ts';
import { writeProfiles } from '../support/profiles.ts';
import { sendMessage } from '../support/reports.ts';
import { type S3Server, s3Credentials, startS3Server } from '../support/s3-server.ts';
import { freePort, type ServerProcess, startServer } from '../support/server.ts';
import { readEvents, readMessages, waitUntilEnded } from '../support/session-waits.ts';
import { createSession } from '../support/sessions.ts';
import { testDatabase } from '../support/test-store.ts';

// This process serves the API, and others run agents: they share the database and the files of checkpoints.
describe.skipIf(testDatabase !== 'postgres')('a session whose worker is lost', { timeout: 240_000 }, () => {
  const root = mkdtempSync(join(tmpdir(), 'switchyard-lost-'));
  const workers = new Map<string, ServerProcess>();
  let s3: S3Server;
  let api: TestApp;
  beforeAll(async () => {
    s3 = await startS3Server();
    const bucket = { bucket: 'files', region: 'eu-central-1', endpoint: s3.endpoint, credentials: s3Credentials };
    api = await startApp({ roles: ['api'], s3: bucket });
  });
  afterEach(async () => {
    await Promise.all([...workers.values()].map((worker) => worker.kill()));
    workers.clear();
  });
  afterAll(async () => {
    await api.close();
    s3.close();
    rmSync(root, { recursive: true, force: true });
  });

  /** Starts a worker. Its agents sleep for `nap` seconds where a prompt says `sleep $NAP`. */
  const start = async (name: string, { nap, leaseSeconds = 600 }: { nap: number; leaseSeconds?: number }) => {
    const settings = { sandbox: 'none', retry_delays_ms: [0, 0, 0, 0], memory_mb: 50, env: { NAP: `${nap}` } };
    const worker = await startServer({
      ...{ DATABASE_URL: api.databaseUrl as string, SECRET_KEY: 'a secret key that is only for the tests' },
      ...{ S3_BUCKET: 'files', S3_REGION: 'eu-central-1', S3_ENDPOINT: s3.endpoint },
      ...{ S3_ACCESS_KEY_ID: s3Credentials.accessKeyId, S3_SECRET_ACCESS_KEY: s3Credentials.secretAccessKey },
      ...{ ROLES: 'worker', DATA_DIR: join(root, name), PORT: String(await freePort()), LOG_LEVEL: 'warn' },
      ...{ AGENTS_CONFIG: await writeProfiles(settings), WORKSPACE_AFFINITY_SECONDS: '0' },
      LEASE_SECONDS: `${leaseSeconds}`,
    });
    workers.set(name, worker);
    return worker;
  };
  const stop = async (name: string) => {
    expect(await workers.get(name)?.stop()).toBe(0);
    workers.delete(name);
  };
  const workerIn = (name: string) => readFileSync(join(root, name, 'worker.id'), 'utf8').trim();
  const query = async <T>(sql: string, id: string) => api.app.services.store.query<T>(sql, [id]);
  const holderOf = async (id: string) =>
    (await query<{ id: string }>('select home_worker_id as id from run where session_id = $1', id))[0]?.id;
  const filesIn = (name: string, id: string) =>
    readdirSync(join(root, name, 'sessions', id, 'ws')).filter((each) => !each.startsWith('.'));
  const checkpointsOf = (id: string) =>
    query<{ id: string; generation: number; kind: string; turn: number; segmentIds: string[] }>(
      `select id, generation, kind, turn, segment_ids as "segmentIds" from checkpoint where session_id = $1 order by created_at, id`,
      id,
    );
  const restoresOf = async (id: string) =>
    (
      await query<{ body: string }>(
        `select body from log_entry where session_id = $1 and kind = 'NOTICE' and data->'workspace'->>'state' = 'restored'`,
        id,
      )
    ).map(({ body }) => body);
  const prompt = 'list\nwrite first.txt 1\nsleep $NAP\nwrite second.txt 2';
  /** Resolves when a worker has stored a checkpoint of a turn that it works on. */
  const waitUntilSaved = (id: string, name: string) =>
    expect
      .poll(async () => {
        const [run] = await query<{ generation: number }>('select generation from run where session_id = $1', id);
        const isStored = (await checkpointsOf(id)).some(
          ({ generation, kind }) => kind === 'WORK' && generation === run?.generation,
        );
        return isStored && (await holderOf(id)) === workerIn(name);
      })
      .toBe(true);

  it('continues on another worker with its files, after kill -9 and without the directory of the first one', async () => {
    const one = await start('killed', { nap: 300, leaseSeconds: 3 });
    const id = await createSession(api, { prompt });
    await waitUntilSaved(id, 'killed');
    await one.kill();
    workers.delete('killed');
    rmSync(join(root, 'killed'), { recursive: true, force: true });
    await start('heir', { nap: 0 });
    await waitUntilEnded(api, id);
    expect(filesIn('heir', id)).toEqual(['first.txt', 'second.txt']);
    expect(await restoresOf(id)).toEqual([
      expect.stringMatching(/^Another worker has taken the session over\. The workspace was restored to its state at /),
    ]);
  });

  it('refuses the save of a frozen worker that continues after the takeover, and deletes what it stored', async () => {
    const frozen = await start('frozen', { nap: 300 });
    const id = await createSession(api, { prompt: 'write kept.txt 0' });
    await waitUntilEnded(api, id);
    const { services } = api.app;
    await expect.poll(async () => (await readNewestCheckpoint(services, id))?.content.ignored).toBeTruthy();
    const known = Object.keys(await readSegments(api, id));
    const held = s3.holdNextSegment('PUT');
    await sendMessage(api, id, prompt);
    await held.reached;
    process.kill(frozen.pid, 'SIGSTOP');
    const late = Object.keys(await readSegments(api, id)).filter((each) => !known.includes(each));
    expect(late).toHaveLength(1);

    // Its lease is over, and nobody takes it for alive.
    await services.store.execute(`update lease set expires_at = now() - interval '1 hour' returning session_id`);
    await services.store.execute(`update worker set expires_at = now() - interval '1 hour' returning id`);
    await start('taker', { nap: 0 });
    await waitUntilEnded(api, id);
    const newestEnd = async () => (await checkpointsOf(id)).findLast(({ kind }) => kind === 'TURN_END')?.turn;
    await expect.poll(newestEnd).toBeGreaterThan(1);
    held.release();
    process.kill(frozen.pid, 'SIGCONT');

    // The storage has its segment, but the statement that records its checkpoint does nothing.
    const [segmentId] = late as [string];
    await expect.poll(async () => (await readSegments(api, id))[segmentId]).toBe('UNUSED');
    const key = `/files/checkpoints/${segmentId.slice(0, 2)}/${segmentId}`;
    expect(s3.objects.has(key)).toBe(true);
    await stop('frozen');
    const all = await checkpointsOf(id);
    expect(all.flatMap(({ segmentIds }) => segmentIds)).not.toContain(segmentId);
    expect(all.map(({ generation }) => generation)).toEqual(all.map(({ generation }) => generation).toSorted());
    const newest = await readNewestCheckpoint(services, id);
    expect(newest?.id).toBe(all.at(-1)?.id);
    expect(newest && (await readWorkspaceFiles(api, newest))).toEqual({
      ...{ 'kept.txt': '0\n', 'first.txt': '1\n', 'second.txt': '2\n' },
    });
    await sweepCheckpoints(services, { workspaceInactiveMs: null }, () => false);
    expect([segmentId in (await readSegments(api, id)), s3.objects.has(key)]).toEqual([false, false]);
  });

  it('moves in the middle of a turn when its worker is drained or gets SIGTERM, with all its files', async () => {
    await start('drained', { nap: 300 });
    const id = await createSession(api, { prompt: `prompt\n${prompt}` });
    await waitUntilSaved(id, 'drained');
    await start('stopped', { nap: 300 });
    const document = 'mutation($input: DrainWorkerInput!) { drainWorker(input: $input) { userErrors { code } } }';
    const { data } = await graphql(api, api.adminToken, document, { input: { workerId: workerIn('drained') } });
    expect(data.drainWorker.userErrors).toEqual([]);
    await waitUntilSaved(id, 'stopped');
    await start('last', { nap: 0 });
    await stop('stopped');
    await waitUntilEnded(api, id);
    expect(filesIn('last', id)).toEqual(['first.txt', 'second.txt']);
    expect(await restoresOf(id)).toHaveLength(2);
    const events = await readEvents(api, id);
    const lists = events.filter(({ title, output }) => title === 'List files' && output !== null);
    expect(lists.map(({ output }) => output.includes('first.txt'))).toEqual([false, true, true]);
    const turns = events.filter(({ phase }) => phase !== undefined);
    expect(turns.map(({ phase, stopReason }) => [phase, stopReason])).toEqual([
      ...Array.from({ length: 3 }, () => ['started', null]),
      ['stopped', 'end_turn'],
    ]);
    const prompts = (await readMessages(api, id)).filter((message) => message.startsWith('AGENT_MESSAGE: '));
    const note = 'Your workspace and home were restored to their state at ';
    expect(prompts.map((each) => each.includes(note))).toEqual([false, true, true]);
    await stop('drained');
  });
});
