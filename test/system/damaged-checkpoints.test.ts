import { copyFile, readdir, readFile, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type CheckpointRecord, readNewestCheckpoint } from '../../src/domain/checkpoints/checkpoint.ts';
import { graphql, startApp } from '../support/app.ts';
import { readWorkspaceFiles } from '../support/checkpoints.ts';
import { makeDirectory } from '../support/git-forge.ts';
import { writeProfiles } from '../support/profiles.ts';
import { sendMessage } from '../support/reports.ts';
import { damageSegment } from '../support/saved-workspace.ts';
import { readMessages, waitUntilEnded } from '../support/session-waits.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { shellAgent } from '../support/shell-agent.ts';
import { testDatabase } from '../support/test-store.ts';
import { directoryOf } from '../support/workspaces.ts';

type Checkpoint = Pick<CheckpointRecord, 'id' | 'turn' | 'kind' | 'content' | 'segmentIds'>;

/** An app that serves the API, whose workers have data directories of their own; they share the database and the directory of files. */
async function start() {
  const shell = { id: 'shell', command: [process.execPath, '-e', shellAgent], sandbox: 'none', mcp: false };
  const shared = {
    agentsConfig: await writeProfiles({}, { ...shell, warm_ttl_ms: 60_000 }),
    attachmentsDir: await makeDirectory(),
    maxConcurrentSessions: 4,
    storedAffinityMs: 0,
  };
  const api = await startApp({ ...shared, roles: ['api'] });
  onTestFinished(() => api.close());
  const { store } = api.app.services;
  const create = async (prompt: string, token = api.adminToken) => {
    const id = await createSession(api, { agent: 'shell', prompt }, token);
    await waitUntilEnded(api, id);
    return id;
  };
  const send = async (id: string, message: string) => {
    await sendMessage(api, id, message);
    await waitUntilEnded(api, id);
  };
  const lastMessageOf = async (id: string) => (await readMessages(api, id)).at(-1);
  const checkpointsOf = (id: string) =>
    store.query<Checkpoint>(
      `select id, turn, kind, content, segment_ids as "segmentIds" from checkpoint where session_id = $1 order by created_at, id`,
      [id],
    );
  const noticesOf = async (id: string) =>
    (
      await store.query<{ body: string }>(
        `select body from log_entry where session_id = $1 and kind = 'NOTICE' and data ? 'workspace' order by seq`,
        [id],
      )
    ).map(({ body }) => body);
  const newestFiles = async (id: string) => {
    const newest = await readNewestCheckpoint(api.app.services, id);
    return newest === null ? null : readWorkspaceFiles(api, newest);
  };
  const pathOf = (segmentId: string) => join(shared.attachmentsDir, 'checkpoints', segmentId.slice(0, 2), segmentId);
  const startWorker = async () => {
    const worker = await api.another({ ...shared, roles: ['worker'] });
    let closing: Promise<void> | null = null;
    const close = () => {
      closing ??= worker.close();
      return closing;
    };
    onTestFinished(close);
    const filesOf = async (id: string) =>
      (await readdir(join(directoryOf(worker, id), 'ws'))).filter((name) => !name.startsWith('.'));
    return { close, filesOf };
  };
  return { api, store, create, send, lastMessageOf, checkpointsOf, noticesOf, newestFiles, pathOf, startWorker };
}

describe.skipIf(testDatabase !== 'postgres')('a session on another worker', () => {
  it('begins with the checkpoint before one that was changed, cut, replaced or deleted', async () => {
    const { api, create, send, lastMessageOf, checkpointsOf, noticesOf, newestFiles, pathOf, startWorker } =
      await start();
    const acts: Record<string, (segmentId: string, other: string) => Promise<void>> = {
      changed: (segmentId) => damageSegment(api, segmentId),
      cut: async (segmentId) => truncate(pathOf(segmentId), (await readFile(pathOf(segmentId))).length - 1),
      replaced: (segmentId, other) => copyFile(pathOf(other), pathOf(segmentId)),
      deleted: (segmentId) => rm(pathOf(segmentId)),
    };
    const one = await startWorker();
    const ids = await Promise.all(Object.keys(acts).map((name) => create(`echo ${name} > a.txt`)));
    for (const id of ids) await expect.poll(async () => (await checkpointsOf(id)).at(-1)?.content.ignored).toBeTruthy();
    await Promise.all(ids.map((id) => send(id, 'echo two > b.txt')));
    await one.close();

    const damaged = new Map<string, number>();
    for (const [n, act] of Object.values(acts).entries()) {
      const [id, other] = [ids[n] as string, ids[(n + 1) % ids.length] as string];
      const all = await checkpointsOf(id);
      const before = all.findLast(({ turn }) => turn === 1);
      const segmentId = all.at(-1)?.content.files.segments.find((each) => !before?.segmentIds.includes(each));
      const [ofOther] = (await checkpointsOf(other))[0]?.segmentIds ?? [];
      await act(segmentId as string, ofOther as string);
      damaged.set(id, all.filter(({ segmentIds }) => segmentIds.includes(segmentId as string)).length);
    }

    const two = await startWorker();
    await Promise.all(ids.map((id) => send(id, `printf '%s' "$PREFACE"; echo three > c.txt`)));
    for (const [n, name] of Object.keys(acts).entries()) {
      const id = ids[n] as string;
      const count = damaged.get(id) ?? 0;
      const lost =
        count === 1
          ? 'One newer saved state is damaged and was not used.'
          : `${count} newer saved states are damaged and were not used.`;
      expect(await noticesOf(id), name).toEqual([
        expect.stringMatching(/^The workspace was restored to its state at /),
      ]);
      expect((await noticesOf(id))[0], name).toContain(lost);
      expect(await lastMessageOf(id), name).toContain('Your workspace and home were restored to their state at ');
      expect(await lastMessageOf(id), name).toContain(lost);
      expect(await two.filesOf(id), name).toEqual(['a.txt', 'c.txt']);
      await expect.poll(() => newestFiles(id)).toEqual({ 'a.txt': `${name}\n`, 'c.txt': 'three\n' });
    }
  });

  it('shares nothing with another organization that has the same file, and cannot read what is the other’s', async () => {
    const { api, store, create, send, lastMessageOf, checkpointsOf, noticesOf, newestFiles, pathOf, startWorker } =
      await start();
    const other = await makeOrganization(api, 'Other');
    const one = await startWorker();
    const same = 'seq 1 2000 > same.txt';
    const [ours, theirs] = [await create(`${same}; echo ours > ours.txt`), await create(same, other.token)];
    for (const id of [ours, theirs])
      await expect.poll(async () => (await checkpointsOf(id)).at(-1)?.content.ignored).toBeTruthy();
    await one.close();

    const segmentsOf = async (id: string) => [
      ...new Set((await checkpointsOf(id)).flatMap(({ segmentIds }) => segmentIds)),
    ];
    const [ourSegments, theirSegments] = [await segmentsOf(ours), await segmentsOf(theirs)];
    expect(ourSegments.filter((id) => theirSegments.includes(id))).toEqual([]);
    // After the eight bytes that are the same in each segment.
    const piecesOf = async (segmentIds: readonly string[]) => {
      const contents = await Promise.all(segmentIds.map((id) => readFile(pathOf(id), 'latin1')));
      return contents.flatMap((text) => Array.from({ length: text.length - 23 }, (_, n) => text.slice(n + 8, n + 24)));
    };
    const ourPieces = new Set(await piecesOf(ourSegments));
    expect(ourPieces.size).toBeGreaterThan(1_000);
    expect((await piecesOf(theirSegments)).filter((piece) => ourPieces.has(piece))).toEqual([]);

    // Somebody who may write to the database gives them our content.
    await store.execute(
      `update checkpoint c set content = o.content, segment_ids = o.segment_ids
         from run r join checkpoint o on o.id = r.checkpoint_id where r.session_id = $1 and c.session_id = $2 returning c.id`,
      [ours, theirs],
    );
    const document =
      'query($id: ID!) { session(id: $id) { files { nodes { name } } file(path: "same.txt") { text } } }';
    const { data, errors } = await graphql(api, other.token, document, { id: theirs });
    expect(data?.session?.file ?? null).toBeNull();
    expect(new Set(errors?.map(({ extensions }) => extensions.code))).toEqual(new Set(['INVALID_STATE']));
    expect(errors?.[0].message).toContain('damaged');

    const two = await startWorker();
    await Promise.all([send(ours, 'ls'), send(theirs, `printf '%s' "$PREFACE"; echo new > new.txt`)]);
    expect(await lastMessageOf(ours)).toBe('AGENT_MESSAGE: ours.txt\nsame.txt\n');
    expect(await noticesOf(theirs)).toEqual([
      expect.stringMatching(/^The session starts with an empty workspace: .* damaged and could not be restored\.$/),
    ]);
    expect(await lastMessageOf(theirs)).toContain('Your workspace and home are empty: ');
    expect(await two.filesOf(theirs)).toEqual(['new.txt']);
    await expect.poll(() => newestFiles(theirs)).toEqual({ 'new.txt': 'new\n' });
  });
});
