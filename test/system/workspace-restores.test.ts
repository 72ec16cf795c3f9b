import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLocalWorkspaces } from '../../src/agents/sandbox/local/local-workspaces.ts';
import { sessionIn } from '../../src/agents/sandbox/local/session-directories.ts';
import { CheckpointError } from '../../src/checkpoints/driver.ts';
import type { Context } from '../../src/domain/context.ts';
import { readAgentNotes } from '../../src/domain/execution/restores/agent-notes.ts';
import { type PrepareWorkspaceOptions, prepareWorkspace } from '../../src/domain/execution/restores/restore-run.ts';
import { RestoreDelay, recordRestoreDelay } from '../../src/domain/execution/restores/restore-waits.ts';
import { writeSavedRecord } from '../../src/domain/execution/restores/saved-record.ts';
import { type ClaimedRun, claimRuns, releaseLease } from '../../src/domain/execution/runs/claims.ts';
import { newId } from '../../src/domain/ids.ts';
import { asAdministrator } from '../rest/rest-app.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { makeDirectory } from '../support/git-forge.ts';
import { createSession } from '../support/sessions.ts';

const room = { slots: 1, memoryMb: 1_000, isEmpty: true, memoryOf: () => 1 };
const layer = { manifest: [], segments: [], files: 2, bytes: 10, missing: [] };

/** A session, with workers that claim it one after the other, and a driver that restores what `contents` says. */
async function start() {
  const test = await startApp();
  onTestFinished(() => test.close());
  const context = await asAdministrator(test);
  const sessionId = await createSession(test);
  const dataDir = await makeDirectory();
  const workspaces = createLocalWorkspaces(dataDir);
  const restored: string[] = [];
  const failures = new Map<string, Error>();
  const driver: PrepareWorkspaceOptions['driver'] = {
    workspaces,
    async restoreWorkspace({ content }) {
      const name = (content as unknown as { name: string }).name;
      const failure = failures.get(name);
      if (failure !== undefined) throw failure;
      await workspaces.discard(sessionId);
      await leaveWorkspace();
      restored.push(name);
      return { files: 2, bytes: 10 };
    },
  };
  const leaveWorkspace = async () => {
    await mkdir(join(sessionIn(dataDir, sessionId), 'ws'), { recursive: true });
    await writeFile(join(sessionIn(dataDir, sessionId), 'ws', 'file'), 'x');
  };
  const claim = async (workerId: string) => {
    const { claimed } = await claimRuns(context, { workerId, leaseMs: 60_000, affinityMs: 0 }, room);
    return claimed[0] as ClaimedRun;
  };
  const prepare = (run: ClaimedRun, more: Partial<PrepareWorkspaceOptions> = {}) =>
    prepareWorkspace(context, run, {
      organizationId: test.organizationId,
      driver,
      mask: (text) => text,
      signal: new AbortController().signal,
      ...more,
    });
  return { test, context, sessionId, workspaces, driver, restored, failures, leaveWorkspace, claim, prepare };
}

/** Records a checkpoint as a worker does, with an empty content of this name. */
async function seedCheckpoint(
  { app, organizationId }: TestApp,
  sessionId: string,
  { name, at, more = {} }: { readonly name: string; readonly at: string; readonly more?: Record<string, unknown> },
): Promise<string> {
  const id = newId();
  await app.services.store.transact(async (tx) => {
    await tx.prisma.checkpoint.create({
      data: {
        ...{ id, sessionId, organizationId, generation: 1, kind: 'TURN_END', turn: 1, seq: 1, segmentIds: [] },
        ...{ agentSessionId: `agent-${name}`, content: { format: 1, files: layer, ignored: layer, name } },
        ...{ files: 2, bytes: 10n, storedBytes: 10n, missing: [], createdAt: new Date(at), ...more },
      },
    });
    await tx.query('update run set checkpoint_id = $2 where session_id = $1', [sessionId, id]);
  });
  return id;
}

const readRun = async (context: Context, sessionId: string) =>
  (
    await context.store.query<Record<string, unknown>>(
      `select checkpoint_id as "checkpointId", is_restore_requested as "isRestoreRequested", agent_session_id as "agentSessionId",
              home_worker_id as home from run where session_id = $1`,
      [sessionId],
    )
  )[0];
const readNotices = async (context: Context, sessionId: string) =>
  (
    await context.store.query<{ body: string }>(
      `select body from log_entry where session_id = $1 and kind = 'NOTICE' order by seq`,
      [sessionId],
    )
  ).map(({ body }) => body);

/** Ends a worker without a trace: its lease is over, and it is not alive. */
const lose = (context: Context) =>
  context.store.transact(async (tx) => {
    await tx.query(`update lease set expires_at = now() - interval '1 hour'`);
    await tx.query(`update worker set expires_at = now() - interval '1 hour'`);
  });

describe('the workspace of a claimed session', () => {
  it('is the one that the worker has, without a restore', async () => {
    const { context, sessionId, claim, prepare, leaveWorkspace, restored } = await start();
    const first = await claim('one');
    expect(await prepare(first)).toEqual({ state: 'kept', agentSessionId: null });
    await leaveWorkspace();
    await releaseLease(context, first);
    expect(await prepare(await claim('one'))).toMatchObject({ state: 'kept' });
    expect([restored, await readNotices(context, sessionId)]).toEqual([[], []]);
  });

  it('is restored on another worker, with the session of the agent, and the agent learns of it', async () => {
    const { test, context, sessionId, claim, prepare, leaveWorkspace, restored } = await start();
    await claim('one');
    const missing = [{ path: 'workspace/big\u202e\n.iso', reason: 'TOO_LARGE', bytes: 9, files: 1 }];
    await seedCheckpoint(test, sessionId, { name: 'old', at: '2026-11-28T12:00:00Z' });
    const id = await seedCheckpoint(test, sessionId, { name: 'new', at: '2026-11-28T12:03:04Z', more: { missing } });
    await lose(context);
    // Of an earlier time, when this worker had the session.
    await leaveWorkspace();
    const run = await claim('two');
    expect(run).toMatchObject({ isMoved: true, isRestoreRequested: true, checkpointId: id });
    expect(await prepare(run)).toEqual({ state: 'restored', agentSessionId: 'agent-new' });
    expect(restored).toEqual(['new']);
    expect(await readRun(context, sessionId)).toEqual({
      ...{ checkpointId: id, isRestoreRequested: false, agentSessionId: 'agent-new', home: 'two' },
    });
    expect(await readNotices(context, sessionId)).toEqual([
      'Another worker has taken the session over. The workspace was restored to its state at 2026-11-28 12:03:04 UTC. These parts are missing: workspace/big .iso (beyond the size limit).',
    ]);
    expect(await readAgentNotes(context, sessionId)).toEqual([
      'Your workspace and home were restored to their state at 2026-11-28 12:03:04 UTC. Processes that ran before are gone, and work after that time is missing. These parts are missing: workspace/big .iso (beyond the size limit).',
    ]);
  });

  it('is restored again if the worker ended before the restore', async () => {
    const { test, context, sessionId, claim, prepare, leaveWorkspace, restored } = await start();
    await claim('one');
    await seedCheckpoint(test, sessionId, { name: 'new', at: '2026-11-28T12:00:00Z' });
    await lose(context);
    await claim('two');
    await leaveWorkspace();
    await lose(context);
    expect(await prepare(await claim('two'))).toMatchObject({ state: 'restored' });
    expect(restored).toEqual(['new']);
  });

  it('is kept by a worker that handed the session over and gets it back unchanged', async () => {
    const { test, context, sessionId, workspaces, claim, prepare, leaveWorkspace, restored } = await start();
    const run = await claim('one');
    const id = await seedCheckpoint(test, sessionId, { name: 'new', at: '2026-11-28T12:00:00Z' });
    await leaveWorkspace();
    await writeSavedRecord(workspaces.files(sessionId), id);
    await releaseLease(context, run, true);
    expect(await readRun(context, sessionId)).toMatchObject({ home: null });
    expect(await prepare(await claim('one'))).toEqual({ state: 'kept', agentSessionId: 'agent-new' });
    // Its agent may have changed files since: the record is gone.
    await lose(context);
    await context.store.execute('update run set home_worker_id = null');
    expect(await prepare(await claim('one'))).toMatchObject({ state: 'restored' });
    expect([restored, (await readNotices(context, sessionId)).length]).toEqual([['new'], 1]);
  });

  it('is the one of the newest checkpoint that is not damaged', async () => {
    const { test, context, sessionId, claim, prepare, restored, failures } = await start();
    await claim('one');
    await seedCheckpoint(test, sessionId, { name: 'older', at: '2026-11-28T11:00:00Z' });
    const older = await seedCheckpoint(test, sessionId, { name: 'old', at: '2026-11-28T12:00:00Z' });
    await seedCheckpoint(test, sessionId, { name: 'new', at: '2026-11-28T13:00:00Z' });
    failures.set('new', new CheckpointError('DAMAGED', 'A segment is truncated.'));
    await lose(context);
    expect(await prepare(await claim('two'))).toEqual({ state: 'restored', agentSessionId: 'agent-old' });
    expect(restored).toEqual(['old']);
    expect(await readRun(context, sessionId)).toMatchObject({ checkpointId: older });
    expect(await readNotices(context, sessionId)).toEqual([
      'Another worker has taken the session over. The workspace was restored to its state at 2026-11-28 12:00:00 UTC. One newer saved state is damaged and was not used.',
    ]);
  });

  it('is never that of a time after a rewind', async () => {
    const { test, context, sessionId, claim, prepare, restored, failures } = await start();
    await claim('one');
    await seedCheckpoint(test, sessionId, { name: 'first', at: '2026-11-28T11:00:00Z' });
    const second = await seedCheckpoint(test, sessionId, { name: 'second', at: '2026-11-28T12:00:00Z' });
    await seedCheckpoint(test, sessionId, { name: 'third', at: '2026-11-28T13:00:00Z' });
    const more = { kind: 'REWIND', parentId: second };
    await seedCheckpoint(test, sessionId, { name: 'second', at: '2026-11-28T14:00:00Z', more });
    failures.set('second', new CheckpointError('DAMAGED', 'A segment is missing.'));
    await lose(context);
    await prepare(await claim('two'));
    expect(restored).toEqual(['first']);
  });

  it('is empty, as the log and the agent learn, if nothing was saved or everything is damaged', async () => {
    const { test, context, sessionId, workspaces, claim, prepare, leaveWorkspace, failures } = await start();
    await claim('one');
    await lose(context);
    await leaveWorkspace();
    expect(await prepare(await claim('two'))).toEqual({ state: 'lost', agentSessionId: null });
    expect(await workspaces.has(sessionId)).toBe(false);
    await seedCheckpoint(test, sessionId, { name: 'new', at: '2026-11-28T13:00:00Z' });
    failures.set('new', new CheckpointError('DAMAGED', 'A segment is truncated.'));
    await lose(context);
    expect(await prepare(await claim('three'))).toMatchObject({ state: 'lost' });
    expect(await readRun(context, sessionId)).toMatchObject({ checkpointId: null, isRestoreRequested: false });
    expect(await readNotices(context, sessionId)).toEqual([
      'The session starts with an empty workspace: another worker has taken it over, and no state of its workspace was saved.',
      'The session starts with an empty workspace: its saved state is damaged and could not be restored.',
    ]);
    expect((await readAgentNotes(context, sessionId)).at(-1)).toMatch(/^Your workspace and home are empty: /);
  });

  it.each([
    ['does not answer', 'FAILED', /the file storage or the worker’s disk does not work/],
    ['has none of its files', 'MISSING', /the file storage does not have its saved files/],
  ] as const)('is waited for while the storage %s', async (_, code, reason) => {
    const { test, context, sessionId, claim, prepare, failures } = await start();
    await claim('one');
    const id = await seedCheckpoint(test, sessionId, { name: 'new', at: '2026-11-28T13:00:00Z' });
    failures.set('new', new CheckpointError(code, 'A segment cannot be read.'));
    for (const workerId of ['two', 'three']) {
      await lose(context);
      await context.store.execute(`update run set queued_at = now() - interval '1 hour'`);
      const run = await claim(workerId);
      const delay: unknown = await prepare(run).catch((error: unknown) => error);
      expect(delay).toBeInstanceOf(RestoreDelay);
      await recordRestoreDelay(context, run, (delay as RestoreDelay).isMissing);
      await releaseLease(context, run);
      expect(await readRun(context, sessionId)).toMatchObject({
        checkpointId: id,
        home: null,
        isRestoreRequested: true,
      });
      expect(await claim('four')).toBeUndefined();
    }
    // Once for the whole outage.
    expect(await readNotices(context, sessionId)).toEqual([expect.stringMatching(reason)]);
    failures.clear();
    await context.store.execute(`update run set queued_at = now() - interval '1 hour'`);
    expect(await prepare(await claim('four'))).toMatchObject({ state: 'restored' });
  });

  it('is restored by no worker that has lost the session meanwhile', async () => {
    const { test, context, sessionId, claim, prepare } = await start();
    await claim('one');
    await seedCheckpoint(test, sessionId, { name: 'new', at: '2026-11-28T13:00:00Z' });
    await lose(context);
    const slow = await claim('two');
    await lose(context);
    await claim('three');
    await expect(prepare(slow)).rejects.toMatchObject({ name: 'FencedError' });
    expect(await readRun(context, sessionId)).toMatchObject({ home: 'three', isRestoreRequested: true });
  });
});
