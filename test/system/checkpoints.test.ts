import { afterAll, beforeAll, expect, it } from 'vitest';
import { type CheckpointRecord, readNewestCheckpoint } from '../../src/domain/checkpoints/checkpoint.ts';
import { call, graphql, startApp, type TestApp } from '../support/app.ts';
import { readSegments, readWorkspaceFiles } from '../support/checkpoints.ts';
import { writeProfiles } from '../support/profiles.ts';
import { sendMessage } from '../support/reports.ts';
import { type S3Server, startS3Server } from '../support/s3-server.ts';
import { waitUntilEnded } from '../support/session-waits.ts';
import { createSession } from '../support/sessions.ts';

let s3: S3Server;
let test: TestApp;
beforeAll(async () => {
  s3 = await startS3Server();
  const credentials = { accessKeyId: 'test-access-key', secretAccessKey: 'test-secret-key' };
  const bucket = { bucket: 'files', region: 'eu-central-1', endpoint: s3.endpoint, credentials };
  const agentsConfig = await writeProfiles({ sandbox: 'none', warm_ttl_ms: 60_000 });
  const config = { roles: ['api', 'worker'], agentsConfig, s3: bucket, maxConcurrentSessions: 4 } as const;
  test = await startApp({ ...config, roles: [...config.roles] });
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

it('continues while the storage fails, and stores everything afterwards', async () => {
  s3.fail(503);
  const id = await createSession(test, { prompt: 'write a.txt one' });
  await waitUntilEnded(test, id);
  await sendMessage(test, id, 'write b.txt two');
  await waitUntilEnded(test, id);
  expect(await kindsOf(id)).toEqual([]);
  s3.fail(null);
  await expect.poll(() => kindsOf(id), { timeout: 60_000 }).toContain('TURN_END 2');
  expect(await newestFiles(id)).toEqual({ 'a.txt': 'one\n', 'b.txt': 'two\n' });
  expect(await noticesOf(id)).toEqual([]);
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
