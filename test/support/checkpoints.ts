import { randomBytes } from 'node:crypto';
import type { CheckpointContent, SavedState } from '../../src/checkpoints/driver.ts';
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
