import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { readCheckpoint, readNewestCheckpoint } from '../../src/domain/checkpoints/checkpoint.ts';
import { openCheckpointKey } from '../../src/domain/checkpoints/checkpoint-key.ts';
import { segmentSource } from '../../src/domain/checkpoints/segment-source.ts';
import {
  addPendingSegments,
  readPoint,
  recordCheckpoint,
} from '../../src/domain/execution/checkpoints/record-checkpoint.ts';
import { newId } from '../../src/domain/ids.ts';
import { resealSecrets } from '../../src/domain/library/secrets/reseal-secrets.ts';
import { FencedError } from '../../src/domain/sessions/log.ts';
import { createKeyring } from '../../src/store/cipher.ts';
import { openFileStorage } from '../../src/store/files.ts';
import { createSegmentFiles } from '../../src/store/segment-files.ts';
import { contentOf, newSegmentId, readSegments, savedState } from '../support/checkpoints.ts';
import { startS3Server } from '../support/s3-server.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const startRun = async () => ({ sessionId: await createSession(test), generation: 0 });
const save = async (run: { sessionId: string; generation: number }, newIds: string[], kept: string[] = []) => {
  const { services } = test.app;
  const state = savedState(newIds, kept);
  await addPendingSegments(services, run, state.segments);
  const point = await readPoint(services, run);
  return recordCheckpoint(services, run, { kind: 'WORK', point, state });
};

it('records a checkpoint with its segments as the newest one', async () => {
  const run = await startRun();
  const { services } = test.app;
  expect(await readNewestCheckpoint(services, run.sessionId)).toBeNull();
  const [a, b] = [newSegmentId(), newSegmentId()];
  await addPendingSegments(services, run, savedState([a]).segments);
  expect(await readSegments(test, run.sessionId)).toEqual({ [a]: 'PENDING' });
  const point = await readPoint(services, run);
  const first = await recordCheckpoint(services, run, { kind: 'WORK', point, state: savedState([a]) });
  const second = await save(run, [b], [a]);
  expect(await readSegments(test, run.sessionId)).toEqual({ [a]: 'STORED', [b]: 'STORED' });
  const newest = await readNewestCheckpoint(services, run.sessionId);
  expect(newest).toMatchObject({
    ...{ id: second.id, parentId: first.id, organizationId: test.organizationId, kind: 'WORK', generation: 0 },
    ...{ ...point, content: contentOf(a, b), segmentIds: [a, b], lenderIds: [], storedBytes: 10, missing: [] },
  });
  expect(await readCheckpoint(services, { ...run, id: first.id })).toMatchObject({ parentId: null, segmentIds: [a] });
  expect(await readCheckpoint(services, { sessionId: newId(), id: first.id })).toBeNull();
});

it('refuses all writes of a stale generation, and writes nothing of them', async () => {
  const run = await startRun();
  const { services } = test.app;
  const a = newSegmentId();
  await addPendingSegments(services, run, savedState([a]).segments);
  const point = await readPoint(services, run);
  await services.store.execute(
    `with r as (update run set generation = 1 where session_id = $1 returning session_id)
     update session_head h set generation = 1 from r where h.session_id = r.session_id returning h.session_id`,
    [run.sessionId],
  );
  const late = { kind: 'WORK', point, state: savedState([a]) } as const;
  await expect(recordCheckpoint(services, run, late)).rejects.toThrow(FencedError);
  await expect(readPoint(services, run)).rejects.toThrow(FencedError);
  const other = savedState([newSegmentId()]).segments;
  await expect(addPendingSegments(services, run, other)).rejects.toThrow(FencedError);
  expect(await readSegments(test, run.sessionId)).toEqual({ [a]: 'PENDING' });
  expect(await readNewestCheckpoint(services, run.sessionId)).toBeNull();
});

it('records no checkpoint whose segments are not there, or are those of another organization', async () => {
  const run = await startRun();
  const { services } = test.app;
  const point = await readPoint(services, run);
  const lost = { kind: 'WORK', point, state: savedState([newSegmentId()]) } as const;
  await expect(recordCheckpoint(services, run, lost)).rejects.toThrow('is missing');
  const other = await makeOrganization(test, 'Other');
  const theirs = { sessionId: await createSession(test, {}, other.token), generation: 0 };
  const b = newSegmentId();
  await save(theirs, [b]);
  await expect(save(run, [newSegmentId()], [b])).rejects.toThrow('is missing');
  await expect(save(run, [b])).rejects.toThrow('in use');
  expect(await readNewestCheckpoint(services, run.sessionId)).toBeNull();
});

it('names the sessions that own segments of a fork', async () => {
  const [source, fork] = [await startRun(), await startRun()];
  const [a, b] = [newSegmentId(), newSegmentId()];
  await save(source, [a]);
  const { id } = await save(fork, [b], [a]);
  const { services } = test.app;
  expect(await readCheckpoint(services, { ...fork, id })).toMatchObject({ lenderIds: [source.sessionId] });
});

it('creates one key for an organization, and seals it again with a new SECRET_KEY', async () => {
  const { services } = test.app;
  const { organizationId } = await makeOrganization(test, 'Keys');
  const id = organizationId.replace('org-', '');
  const keys = await Promise.all(Array.from({ length: 8 }, () => openCheckpointKey(services, id)));
  expect(new Set(keys.map((key) => key.toString('hex'))).size).toBe(1);
  expect(keys[0]).toHaveLength(32);
  expect(keys[0]).not.toEqual(await openCheckpointKey(services, test.organizationId));
  const secretKey = 'another secret key that is only for the tests';
  const previousSecretKey = 'a secret key that is only for the tests';
  const rotating = { ...services, keyring: createKeyring({ secretKey, previousSecretKey }) };
  await resealSecrets(rotating, () => false);
  const rotated = { ...services, keyring: createKeyring({ secretKey, previousSecretKey: null }) };
  expect(await openCheckpointKey(rotated, id)).toEqual(keys[0]);
  await expect(openCheckpointKey(services, id)).rejects.toThrow('SECRET_KEY');
  // The rest of this file's app seals with the first key.
  const back = createKeyring({ secretKey: previousSecretKey, previousSecretKey: secretKey });
  await resealSecrets({ ...services, keyring: back }, () => false);
  await expect(openCheckpointKey(services, newId())).rejects.toThrow('is deleted');
});

it.each(['directory', 'bucket'])('stores, reads and deletes segments in a %s', async (kind) => {
  const directory = await mkdtemp(join(tmpdir(), 'segments-'));
  const server = kind === 'bucket' ? await startS3Server() : null;
  const credentials = { accessKeyId: 'test-access-key', secretAccessKey: 'test-secret-key' };
  const s3 = server && { bucket: 'files', region: 'eu-central-1', endpoint: server.endpoint, credentials };
  const segments = createSegmentFiles(await openFileStorage({ directory: join(directory, 'stored'), s3 }));
  const source = segmentSource({ segments });
  const path = join(directory, 'local');
  await writeFile(path, 'all of it');
  const ids = Array.from({ length: 10 }, newSegmentId);
  for (const id of ids) await segments.put(id, path);
  const text = async (range?: { start: number; end: number }) => {
    const found = await source.read(ids[0] as string, range);
    return found && (await buffer(found)).toString();
  };
  expect(await text()).toBe('all of it');
  expect(await text({ start: 4, end: 5 })).toBe('of');
  const missing = newSegmentId();
  expect((await segments.deleteMany([...ids, missing])).sort()).toEqual([...ids, missing].sort());
  expect(await text()).toBeNull();
  await expect(segments.put('../x', path)).rejects.toThrow('32 hex digits');
  if (server) expect(server.requests[0]).toBe(`PUT /files/checkpoints/${ids[0]?.slice(0, 2)}/${ids[0]}`);
  server?.close();
});
