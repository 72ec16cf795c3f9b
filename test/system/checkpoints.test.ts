import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type CheckpointRecord, readNewestCheckpoint } from '../../src/domain/checkpoints/checkpoint.ts';
import { call, graphql, startApp, type TestApp } from '../support/app.ts';
import { readSegments, readWorkspaceFiles } from '../support/checkpoints.ts';
import { createMovableClock } from '../support/movable-clock.ts';
import { writeProfiles } from '../support/profiles.ts';
import { sendMessage } from '../support/reports.ts';
import { type S3Server, s3Credentials, startS3Server } from '../support/s3-server.ts';
import { waitUntilEnded } from '../support/session-waits.ts';
import { createSession } from '../support/sessions.ts';

const clock = createMovableClock();
const lines: { readonly message: string; readonly fields: Record<string, unknown> }[] = [];
const write = (fields: object, message: string) => void lines.push({ message, fields: { ...fields } });
const log = { debug: () => undefined, info: write, warn: write, error: write };
let s3: S3Server;
let test: TestApp;
beforeAll(async () => {
  s3 = await startS3Server();
  const bucket = { bucket: 'files', region: 'eu-central-1', endpoint: s3.endpoint, credentials: s3Credentials };
  const agentsConfig = await writeProfiles({ sandbox: 'none', warm_ttl_ms: 60_000 });
  const config = { roles: ['api', 'worker'], agentsConfig, s3: bucket, maxConcurrentSessions: 4 } as const;
  test = await startApp({ ...config, roles: [...config.roles] }, { log, checkpointClock: clock });
});
afterAll(async () => {
  await test.close();
  s3.close();
});

const checkpointsOf = (id: string) =>
  test.app.services.store.query<Pick<CheckpointRecord, 'kind' | 'turn' | 'segmentIds'>>(
    'select kind, turn, segment_ids as "segmentIds" from checkpoint where session_id = $1 order by created_at, id',
    [id],
  );
const kindsOf = async (id: string) => (await checkpointsOf(id)).map(({ kind, turn }) => `${kind} ${turn}`);
const newestFiles = async (id: string) => {
  const newest = await readNewestCheckpoint(test.app.services, id);
  return newest === null ? {} : readWorkspaceFiles(test, newest);
};
const noticesOf = async (id: string): Promise<string[]> => {
  const document =
    'query($id: ID!) { session(id: $id) { events(first: 100) { nodes { ... on NoticeEvent { body } } } } }';
  const { data } = await graphql(test, test.adminToken, document, { id });
  return data.session.events.nodes.flatMap(({ body }: { body?: string }) => body ?? []);
};

it('saves the workspace after tool calls, at the end of a turn, and when the session is put aside', async () => {
  const id = await createSession(test, { prompt: 'write a.txt one\nsleep 60' });
  await expect.poll(() => kindsOf(id)).toContain('WORK 1');
  expect(await newestFiles(id)).toEqual({ 'a.txt': 'one\n' });
  await call(test, test.adminToken, 'POST', `/v3/organizations/${test.organizationId}/sessions/devin-${id}/archive`);
  const other = await createSession(test, { prompt: 'write b.txt two' });
  await waitUntilEnded(test, other);
  await expect.poll(() => kindsOf(other)).toContain('TURN_END 1');
  await expect.poll(async () => (await readNewestCheckpoint(test.app.services, other))?.content.ignored).toBeTruthy();
  expect(await newestFiles(other)).toEqual({ 'b.txt': 'two\n' });
  await sendMessage(test, other, 'say nothing changes');
  await expect.poll(() => kindsOf(other)).toContain('TURN_END 2');
  const states = Object.values(await readSegments(test, other));
  expect(new Set(states)).toEqual(new Set(['STORED']));
});

const linesWith = (message: string, sessionId?: string) =>
  lines.filter((line) => line.message === message && line.fields.sessionId === sessionId);
const failed = 'A checkpoint could not be stored. The service keeps trying.';
const isStoredAgain = 'The checkpoints of a session are stored again.';

/** Begins a failure of the storage. `isMet` resolves when a save of the session has met it. */
const failWith = (status: number, code?: string) => {
  s3.fail(status, code);
  const isMet = (id: string) => expect.poll(() => linesWith(failed, id).length).toBe(1);
  return { isMet, release: () => s3.fail(null) };
};
const failures = {
  slow: () => {
    const { reached, release } = s3.holdNextSegment('PUT');
    return { isMet: () => reached, release };
  },
  full: () => failWith(403, 'QuotaExceeded'),
  unavailable: () => failWith(503),
} as const;

it.each(Object.keys(failures) as (keyof typeof failures)[])(
  'continues while the storage is %s, and stores everything afterwards',
  async (name) => {
    lines.length = 0;
    const failure = failures[name]();
    const id = await createSession(test, { prompt: 'write a.txt one' });
    await waitUntilEnded(test, id);
    expect(await noticesOf(id)).toEqual([]);
    await failure.isMet(id);
    clock.advance(60_000);
    const unsafe = expect.stringMatching(
      /^The workspace isn’t backed up right now: its changes since .* aren’t stored yet/,
    );
    await expect.poll(() => noticesOf(id)).toEqual([unsafe]);
    await sendMessage(test, id, 'write b.txt two');
    await waitUntilEnded(test, id);
    clock.advance(5 * 60_000);
    await expect
      .poll(() => linesWith('Checkpoints of this worker.').map(({ fields }) => fields.unsafeSessions))
      .toContain(1);
    expect(await kindsOf(id)).toEqual([]);
    failure.release();
    await expect
      .poll(async () => {
        clock.advance(30_000);
        return kindsOf(id);
      })
      .toContain('TURN_END 2');
    expect(await newestFiles(id)).toEqual({ 'a.txt': 'one\n', 'b.txt': 'two\n' });
    const safe = 'The workspace is backed up again: all its changes are stored.';
    await expect.poll(() => noticesOf(id)).toEqual([unsafe, safe]);
    const count = name === 'slow' ? 0 : 1;
    expect([failed, isStoredAgain].map((line) => linesWith(line, id).length)).toEqual([count, count]);
  },
);

/** Returns the ids of the processes that save workspaces for this one. */
const saveProcesses = (): number[] => {
  const of = (pid: string, file: string) => readFileSync(`/proc/${pid}/${file}`, 'utf8');
  return readdirSync('/proc').flatMap((pid) => {
    try {
      const isOurs = /^\d+$/.test(pid) && of(pid, 'stat').split(') ').at(-1)?.split(' ')[1] === `${process.pid}`;
      return isOurs && of(pid, 'cmdline').includes('save-process') ? [Number(pid)] : [];
    } catch {
      // It has ended meanwhile.
      return [];
    }
  });
};

it('loses nothing when the process that saves workspaces is killed, at rest and at work', async () => {
  const id = await createSession(test, { prompt: 'write a.txt one' });
  await waitUntilEnded(test, id);
  await expect.poll(async () => (await readNewestCheckpoint(test.app.services, id))?.content.ignored).toBeTruthy();
  const before = await readNewestCheckpoint(test.app.services, id);
  const [first] = saveProcesses();
  process.kill(first as number, 'SIGKILL');
  await expect.poll(saveProcesses).not.toContain(first);
  lines.length = 0;
  // A new process begins with the last content that was recorded.
  const read = s3.holdNextSegment('GET', before?.segmentIds);
  await sendMessage(test, id, 'write b.txt two');
  await read.reached;
  const [second] = saveProcesses();
  process.kill(second as number, 'SIGKILL');
  await expect.poll(() => linesWith(failed, id).length).toBe(1);
  read.release();
  clock.advance(2_000);
  await expect.poll(() => kindsOf(id)).toContain('TURN_END 2');
  expect(saveProcesses()).not.toContain(second);
  expect(await newestFiles(id)).toEqual({ 'a.txt': 'one\n', 'b.txt': 'two\n' });
  const after = await readNewestCheckpoint(test.app.services, id);
  expect(after?.segmentIds).toEqual(expect.arrayContaining([...(before?.content.files.segments ?? [])]));
  expect([failed, isStoredAgain].map((line) => linesWith(line, id).length)).toEqual([1, 1]);
  expect(String(linesWith(failed, id)[0]?.fields.err)).toContain('The process that saves directories ended (SIGKILL).');
});

it('stores the last state when the worker stops, and nothing of a session that is not its own any more', async () => {
  const id = await createSession(test, { prompt: 'write a.txt one\nsleep 60' });
  await expect.poll(() => kindsOf(id)).toContain('WORK 1');
  expect((await call(test, test.v1Key, 'DELETE', `/v1/sessions/devin-${id}`)).status).toBe(200);
  const before = await checkpointsOf(id);
  const stopped = await createSession(test, { prompt: 'write c.txt three\nsleep 60' });
  await expect.poll(() => kindsOf(stopped)).toContain('WORK 1');
  await test.app.worker?.stop();
  expect((await kindsOf(stopped)).at(-1)).toBe('HANDOVER 1');
  expect(await checkpointsOf(id)).toEqual(before);
});
