import { access, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CheckpointKind } from '../../src/domain/checkpoints/checkpoint.ts';
import { openCheckpointKey } from '../../src/domain/checkpoints/checkpoint-key.ts';
import {
  deleteCheckpoints,
  markUnusedSegments,
  pruneCheckpoints,
} from '../../src/domain/checkpoints/delete-checkpoints.ts';
import { sweepCheckpoints } from '../../src/domain/checkpoints/sweep-checkpoints.ts';
import {
  addPendingSegments,
  readPoint,
  recordCheckpoint,
} from '../../src/domain/execution/checkpoints/record-checkpoint.ts';
import { newId } from '../../src/domain/ids.ts';
import { lockCheckpoints } from '../../src/domain/sessions/checkpoints/copy-checkpoint.ts';
import type { Transaction } from '../../src/store/store.ts';
import { newSegmentId, readSegments, savedState } from '../support/checkpoints.ts';
import { stopClock } from '../support/clock.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { testDatabase } from '../support/test-store.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();
const never = () => false;
const times = { workspaceInactiveMs: null };

const startRun = async (token?: string) => ({ sessionId: await createSession(test, {}, token), generation: 0 });
type Run = Awaited<ReturnType<typeof startRun>>;

async function record(run: Run, kind: CheckpointKind, turn: number, newIds: string[], kept: string[] = []) {
  const { services } = test.app;
  const state = savedState(newIds, kept);
  await addPendingSegments(services, run, state.segments);
  const point = { ...(await readPoint(services, run)), turn };
  return (await recordCheckpoint(services, run, { kind, point, state })).id;
}

const idsOf = async ({ sessionId }: Run) =>
  (
    await test.app.services.store.query<{ id: string }>(
      'select id from checkpoint where session_id = $1 order by created_at, id',
      [sessionId],
    )
  ).map(({ id }) => id);

/** Copies a checkpoint into another session, as a fork does, and calls `before` when the source is locked. */
const fork = (source: Run, id: string, target: Run, before: () => unknown = () => undefined) =>
  test.app.services.store.transact(async (tx) => {
    await tx.query('select 1 from run where session_id = $1 for share', [source.sessionId]);
    before();
    return tx.query(
      `insert into checkpoint (id, session_id, organization_id, generation, kind, turn, seq, content, segment_ids, lender_ids,
              files, bytes, stored_bytes, created_at)
       select $3, $4, organization_id, 0, 'FORK', 0, 0, content, segment_ids, array[$1]::text[], files, bytes, 0, $5::timestamptz
         from checkpoint where id = $2 and session_id = $1 returning id`,
      [source.sessionId, id, newId(), target.sessionId, test.app.services.now()],
    );
  });

const stored = async (id: string) => {
  const directory = await mkdtemp(join(tmpdir(), 'segment-'));
  await writeFile(join(directory, id), 'x');
  await test.app.services.segments.put(id, join(directory, id));
  return id;
};
const isStored = (id: string) =>
  access(join(test.dataDir, 'attachments', 'checkpoints', id.slice(0, 2), id)).then(
    () => true,
    () => false,
  );

it('keeps the newest three, the ends of the last 20 turns, and the segments that these need', async () => {
  const clock = stopClock(test);
  const run = await startRun();
  const { services } = test.app;
  await services.store.execute('update run set turn_count = 22 where session_id = $1 returning session_id', [
    run.sessionId,
  ]);
  const segments = await Promise.all(Array.from({ length: 30 }, () => stored(newSegmentId())));
  const segment = (n: number) => segments[n] as string;
  const kept: string[] = [];
  for (let turn = 1; turn <= 22; turn++) {
    clock.advance(1_000);
    await record(run, 'WORK', turn, turn === 1 ? [segment(0)] : [], turn === 1 ? [] : [segment(0)]);
    clock.advance(1_000);
    const id = await record(run, 'TURN_END', turn, [segment(turn)]);
    if (turn > 2) kept.push(id);
  }
  for (let n = 23; n < 27; n++) {
    clock.advance(1_000);
    const id = await record(run, 'WORK', 22, [segment(n)]);
    if (n > 23) kept.push(id);
  }
  await addPendingSegments(services, run, savedState([segment(27)]).segments);
  await sweepCheckpoints(services, times, never);
  expect(await idsOf(run)).toEqual(kept);
  const states = await readSegments(test, run.sessionId);
  expect(states[segment(27)]).toBe('PENDING');
  const gone = [0, 1, 2, 23].map(segment);
  expect(Object.keys(states)).toHaveLength(28 - gone.length);
  for (const id of gone) expect([id in states, await isStored(id)]).toEqual([false, false]);
  expect(await isStored(segment(3))).toBe(true);
  // The upload of an hour ago was never finished.
  clock.advance(60 * 60_000 + 1);
  await sweepCheckpoints(services, times, never);
  expect([segment(27) in (await readSegments(test, run.sessionId)), await isStored(segment(27))]).toEqual([
    false,
    false,
  ]);
});

it('keeps the newest one although it is old, as after a rewind, and those of snapshots', async () => {
  const clock = stopClock(test);
  const run = await startRun();
  const ids: string[] = [];
  for (let n = 0; n < 5; n++) {
    clock.advance(1_000);
    ids.push(await record(run, 'WORK', 1, [newSegmentId()]));
  }
  const { services } = test.app;
  await services.store.execute('update run set checkpoint_id = $2 where session_id = $1 returning session_id', [
    run.sessionId,
    ids[0],
  ]);
  const createdAt = services.now();
  const snapshot = {
    ...{ id: newId(), organizationId: test.organizationId, name: 'named', checkpointId: ids[1] as string },
    ...{ sessionId: run.sessionId, createdAt, updatedAt: createdAt },
  };
  await services.store.transact(async (tx) => void (await tx.prisma.snapshot.create({ data: snapshot })));
  expect(await pruneCheckpoints(services, [run.sessionId])).toBe(0);
  await deleteCheckpoints(services, [run.sessionId]);
  expect(await idsOf(run)).toEqual([ids[1]]);
  await services.store.execute('delete from snapshot where id = $1 returning id', [snapshot.id]);
  await deleteCheckpoints(services, [run.sessionId]);
  expect(await idsOf(run)).toEqual([]);
});

it('keeps segments that a fork uses, after the session that owns them is over', async () => {
  const clock = stopClock(test);
  const [source, target] = [await startRun(), await startRun()];
  const { services } = test.app;
  const [a, b] = [await stored(newSegmentId()), await stored(newSegmentId())];
  const first = await record(source, 'TURN_END', 1, [a]);
  await record(source, 'TURN_END', 2, [b]);
  await fork(source, first, target);
  await services.store.execute(
    `update session set ended_by = 'terminated', status = 'exit' where id = $1 returning id`,
    [source.sessionId],
  );
  clock.advance(29 * 86_400_000);
  await sweepCheckpoints(services, times, never);
  expect(await idsOf(source)).toHaveLength(2);
  clock.advance(2 * 86_400_000);
  await sweepCheckpoints(services, times, never);
  expect(await idsOf(source)).toEqual([]);
  expect(await readSegments(test, source.sessionId)).toEqual({ [a]: 'STORED' });
  expect([await isStored(a), await isStored(b)]).toEqual([true, false]);
});

it('deletes all checkpoints of a deleted organization, and its key', async () => {
  const { services } = test.app;
  const other = await makeOrganization(test, 'Deleted');
  const organizationId = other.organizationId.replace('org-', '');
  const run = await startRun(other.token);
  const id = await stored(newSegmentId());
  await openCheckpointKey(services, organizationId);
  await record(run, 'TURN_END', 1, [id]);
  await services.store.execute('update organization set deleted_at = $2::timestamptz where id = $1 returning id', [
    organizationId,
    services.now(),
  ]);
  await sweepCheckpoints(services, times, never);
  expect([await idsOf(run), await readSegments(test, run.sessionId), await isStored(id)]).toEqual([[], {}, false]);
  const keys = await services.store.query('select 1 from checkpoint_key where organization_id = $1', [organizationId]);
  expect(keys).toEqual([]);
});

it.runIf(testDatabase === 'postgres')(
  'never deletes the segments of a fork that is made at the same time',
  async () => {
    const clock = stopClock(test);
    const { services } = test.app;
    for (let n = 0; n < 20; n++) {
      const [source, target] = [await startRun(), await startRun()];
      const a = newSegmentId();
      const old = await record(source, 'WORK', 1, [a]);
      for (let m = 0; m < 3; m++) {
        clock.advance(1_000);
        await record(source, 'WORK', 1, [newSegmentId()]);
      }
      const sweep = async () => {
        while ((await idsOf(source)).includes(old)) await pruneCheckpoints(services, [source.sessionId]);
        await markUnusedSegments(services, [source.sessionId]);
      };
      // In half of the rounds the sweep begins while the fork holds its lock, in the others before.
      let signal: () => void = () => undefined;
      const locked = new Promise<void>((resolve) => {
        signal = resolve;
      });
      const sweeping = n % 2 === 0 ? sweep() : locked.then(sweep);
      const copies = await fork(source, old, target, signal);
      await sweeping;
      expect((await readSegments(test, source.sessionId))[a]).toBe(copies.length > 0 ? 'STORED' : 'UNUSED');
    }
  },
);

/** Runs work in a transaction, and begins `other` in the middle: the transaction ends when `other` waits for a lock of it. */
async function holdUntilBlocked<T>(work: (tx: Transaction) => Promise<unknown>, other: () => Promise<T>): Promise<T> {
  const { store } = test.app.services;
  const blocked = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  let signal: () => void = () => undefined;
  const done = new Promise<void>((resolve) => {
    signal = resolve;
  });
  const running = done.then(other);
  const isBlocked = done.then(() => expect.poll(() => store.query(blocked)).toHaveLength(1));
  await store.transact(async (tx) => {
    await work(tx);
    signal();
    await isBlocked;
  });
  return running;
}

describe.runIf(testDatabase === 'postgres')('a deletion that waits for a lock', () => {
  it('keeps the checkpoint of a snapshot that was made meanwhile', async () => {
    const { services } = test.app;
    const run = await startRun();
    const id = await record(run, 'WORK', 1, [newSegmentId()]);
    const createdAt = services.now();
    const snapshot = {
      ...{ id: newId(), organizationId: test.organizationId, name: 'at the same time', checkpointId: id },
      ...{ sessionId: run.sessionId, createdAt, updatedAt: createdAt },
    };
    const makeSnapshot = async (tx: Transaction) => {
      await lockCheckpoints(tx, run.sessionId);
      await tx.prisma.snapshot.create({ data: snapshot });
    };
    expect(await holdUntilBlocked(makeSnapshot, () => deleteCheckpoints(services, [run.sessionId]))).toBe(0);
    expect(await idsOf(run)).toEqual([id]);
  });

  it('keeps the checkpoints of a session that a message resumed meanwhile', async () => {
    const clock = stopClock(test);
    const { services } = test.app;
    const run = await startRun();
    const id = await record(run, 'TURN_END', 1, [newSegmentId()]);
    await services.store.execute(`update session set status = 'exit' where id = $1 returning id`, [run.sessionId]);
    clock.advance(2_000);
    const resume = async (tx: Transaction) => {
      await tx.query('select 1 from run where session_id = $1 for update', [run.sessionId]);
      await tx.query(`update session set status = 'resuming' where id = $1`, [run.sessionId]);
    };
    await holdUntilBlocked(resume, () => sweepCheckpoints(services, { workspaceInactiveMs: 1_000 }, never));
    expect(await idsOf(run)).toEqual([id]);
  });
});

describe('results of set-ups', () => {
  const day = 24 * 60 * 60_000;

  it('keep their checkpoints, also of a terminated session, until nothing uses them', async () => {
    const clock = stopClock(test);
    const { services } = test.app;
    const { organizationId, token } = await makeOrganization(test, 'Results');
    const run = await startRun(token);
    const { sessionId } = run;
    const ids = await Promise.all([1, 2].map(() => stored(newSegmentId())));
    const [first = '', second = ''] = ids;
    const builtId = await record(run, 'WORK', 0, [first]);
    clock.advance(1_000);
    await record(run, 'TURN_END', 1, [second]);
    const base = { organizationId: organizationId.replace('org-', ''), repositoryId: newId(), sessionId };
    const addBuild = async (hash: string, checkpointId: string | null) => {
      const at = services.now();
      const times = { createdAt: at, startedAt: at, finishedAt: at, usedAt: at };
      const build = { ...base, id: newId(), hash, machine: 'm', commit: 'c', state: 'READY', checkpointId, ...times };
      await services.store.prisma.environmentBuild.create({ data: build });
    };
    const hashes = async () => {
      const rows = await services.store.prisma.environmentBuild.findMany({
        where: { repositoryId: base.repositoryId },
      });
      return rows.map(({ hash }) => hash).sort();
    };
    await addBuild('a', builtId);
    await deleteCheckpoints(services, [sessionId]);
    expect(await idsOf(run)).toEqual([builtId]);
    await sweepCheckpoints(services, times, never);
    expect([await isStored(first), await isStored(second)]).toEqual([true, false]);

    for (const hash of ['b', 'c', 'd', 'e', 'f', 'g']) {
      clock.advance(1_000);
      await addBuild(hash, null);
    }
    await sweepCheckpoints(services, times, never);
    expect(await hashes()).toEqual(['c', 'd', 'e', 'f', 'g']);
    clock.advance(31 * day);
    await addBuild('h', null);
    await sweepCheckpoints(services, times, never);
    expect(await hashes()).toEqual(['h']);
    await deleteCheckpoints(services, [sessionId]);
    await sweepCheckpoints(services, times, never);
    expect([await idsOf(run), await isStored(first)]).toEqual([[], false]);
  });
});
