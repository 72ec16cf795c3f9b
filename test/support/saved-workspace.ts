import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { MissingPart } from '../../src/checkpoints/driver.ts';
import type { Layer } from '../../src/checkpoints/manifest.ts';
import { openCheckpointKey } from '../../src/domain/checkpoints/checkpoint-key.ts';
import {
  addPendingSegments,
  readPoint,
  recordCheckpoint,
} from '../../src/domain/execution/checkpoints/record-checkpoint.ts';
import type { TestApp } from './app.ts';
import { contentOf, type WrittenEntry, writeLayer, writtenMtime } from './written-segments.ts';

/** A file (its content, or `repeat` times a part of at most 512 KB), a link (`target`) or a directory. */
export interface SavedEntry {
  readonly content?: string | Buffer;
  readonly repeat?: number;
  readonly target?: string;
  readonly mode?: number;
}

/** The layers of a saved workspace: entries by their paths, such as `workspace/src/main.ts`, of one character for each byte. */
export interface SavedWorkspace {
  readonly files: Readonly<Record<string, SavedEntry>>;
  readonly ignored?: Readonly<Record<string, SavedEntry>>;
  readonly missing?: readonly MissingPart[];
}

/** The time at which all files of a saved workspace were modified. */
export const savedFilesAt = new Date(Math.floor(writtenMtime / 1_000));

/** A recorded checkpoint with the ids of its segments. */
export interface SavedCheckpoint {
  readonly id: string;
  readonly createdAt: Date;
  readonly segmentIds: readonly string[];
}

/** Writes a checkpoint of a session that no worker has, as a worker would: the content, its segments and the row. */
export async function saveWorkspace(
  { app: { services } }: TestApp,
  sessionId: string,
  { files, ignored, missing = [] }: SavedWorkspace,
): Promise<SavedCheckpoint> {
  const [session] = await services.store.query<{ organizationId: string }>(
    'select organization_id as "organizationId" from session where id = $1',
    [sessionId],
  );
  const key = await openCheckpointKey(services, session?.organizationId ?? '');
  const spoolDir = await mkdtemp(join(tmpdir(), 'switchyard-test-'));
  try {
    const written = [writeEntries(spoolDir, key, 'files', files)];
    const others = ignored ? [writeEntries(spoolDir, key, 'ignored', ignored)] : [];
    const segments = [...written, ...others].flatMap((layer) => layer.segments);
    const [fence] = await services.store.query<{ generation: number }>(
      'select generation from run where session_id = $1',
      [sessionId],
    );
    const run = { sessionId, generation: fence?.generation ?? 0 };
    await addPendingSegments(services, run, segments);
    for (const { id, path } of segments) await services.segments.put(id, path);
    const state = { content: contentOf(written, others), segments, files: 1, bytes: 1, missing };
    const point = await readPoint(services, run);
    const recorded = await recordCheckpoint(services, run, { kind: 'WORK', point, state });
    return { ...recorded, segmentIds: segments.map(({ id }) => id) };
  } finally {
    await rm(spoolDir, { recursive: true, force: true });
  }
}

/** Writes a layer with a directory for each parent of a path. */
function writeEntries(spoolDir: string, key: Buffer, layer: Layer, saved: SavedWorkspace['files']) {
  const entries: Record<string, WrittenEntry> = {};
  const add = (path: string, entry: SavedEntry) => {
    const { content, target, mode = 0o644, repeat = 1 } = entry;
    const parent = path.slice(0, path.lastIndexOf('/'));
    if (path.includes('/') && !(parent in entries)) add(parent, {});
    if (target !== undefined) entries[path] = { mode: 0o777, target };
    else entries[path] = content === undefined ? null : { mode, content: Buffer.from(content), repeat };
  };
  for (const [path, entry] of Object.entries(saved)) add(path, entry);
  return writeLayer(spoolDir, key, { layer, entries });
}

/** Changes one bit of a stored segment: in its middle, or at this byte. */
export async function damageSegment({ app: { services } }: TestApp, segmentId: string, at?: number): Promise<void> {
  const content = await services.segments.read(segmentId);
  if (content === null) throw new Error(`There is no segment ${segmentId}.`);
  const bytes = await buffer(content);
  const position = at ?? bytes.length >> 1;
  bytes[position] = (bytes[position] ?? 0) ^ 1;
  const directory = await mkdtemp(join(tmpdir(), 'switchyard-test-'));
  const path = join(directory, segmentId);
  await writeFile(path, bytes);
  await services.segments.put(segmentId, path);
  await rm(directory, { recursive: true });
}
