import { randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import type { CheckpointContent, SavedState } from '../../src/checkpoints/driver.ts';
import { openCheckpoint } from '../../src/checkpoints/open-checkpoint.ts';
import type { CheckpointRecord } from '../../src/domain/checkpoints/checkpoint.ts';
import { openCheckpointKey } from '../../src/domain/checkpoints/checkpoint-key.ts';
import { segmentSource } from '../../src/domain/checkpoints/segment-source.ts';
import type { TestApp } from './app.ts';

/** Returns a new segment id. */
export const newSegmentId = (): string => randomBytes(16).toString('hex');

/** Returns a content whose layer `files` needs these segments. */
export const contentOf = (...segments: string[]): CheckpointContent => ({
  format: 1,
  files: { manifest: segments.slice(-1), segments, files: 2, bytes: 7, missing: [] },
  ignored: null,
});

/** Returns a saved state: its content needs `kept` and the new segments. */
export function savedState(newIds: readonly string[], kept: readonly string[] = []): SavedState {
  return {
    content: contentOf(...kept, ...newIds),
    segments: newIds.map((id) => ({ id, path: `/nowhere/${id}`, bytes: 10 })),
    files: 2,
    bytes: 7,
    missing: [],
  };
}

/** Reads the session's rows of segments, as `id: state`. */
export async function readSegments(test: TestApp, sessionId: string): Promise<Record<string, string>> {
  const rows = await test.app.services.store.query<{ id: string; state: string }>(
    'select id, state from checkpoint_segment where session_id = $1 order by id',
    [sessionId],
  );
  return Object.fromEntries(rows.map(({ id, state }) => [id, state]));
}

/** Reads the files of the workspace in a checkpoint by path, without those of `.session`. */
export async function readWorkspaceFiles(
  { app: { services } }: TestApp,
  { organizationId, content }: Pick<CheckpointRecord, 'organizationId' | 'content'>,
): Promise<Record<string, string>> {
  const key = await openCheckpointKey(services, organizationId);
  const checkpoint = await openCheckpoint({ content, key, segments: segmentSource(services) });
  const found: Record<string, string> = {};
  for (const [path, { type }] of checkpoint.entries) {
    const [, name] = /^workspace\/(?!\.session\/)(.+)$/.exec(path) ?? [];
    if (type === 'file' && name !== undefined) found[name] = await text(checkpoint.read(path));
  }
  return found;
}
