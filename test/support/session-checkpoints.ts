import type { CheckpointKind } from '../../src/domain/checkpoints/checkpoint.ts';
import {
  addPendingSegments,
  type CheckpointPoint,
  readPoint,
  recordCheckpoint,
} from '../../src/domain/execution/checkpoints/record-checkpoint.ts';
import { prefixedId } from '../../src/domain/ids.ts';
import type { TestApp } from './app.ts';
import { newSegmentId, savedState } from './checkpoints.ts';
import { createSession } from './sessions.ts';

/** Records a checkpoint of a session as its worker does, with one new segment whose file is not stored. Returns its unprefixed id. */
export async function saveCheckpoint(
  { app: { services } }: TestApp,
  sessionId: string,
  { kind = 'WORK', ...at }: Partial<CheckpointPoint> & { readonly kind?: CheckpointKind } = {},
): Promise<string> {
  const [run] = await services.store.query<{ generation: number }>('select generation from run where session_id = $1', [
    sessionId,
  ]);
  const fence = { sessionId, generation: run?.generation ?? 0 };
  const state = savedState([newSegmentId()]);
  await addPendingSegments(services, fence, state.segments);
  const point = { ...(await readPoint(services, fence)), ...at };
  return (await recordCheckpoint(services, fence, { kind, point, state })).id;
}

/** Starts a session that has a checkpoint, and returns both REST ids. */
export async function sessionWithCheckpoint(
  test: TestApp,
  token = test.adminToken,
): Promise<{ readonly sessionId: string; readonly checkpointId: string }> {
  const id = await createSession(test, {}, token);
  const checkpointId = prefixedId('checkpoint', await saveCheckpoint(test, id, { agentSessionId: 'agent-1' }));
  return { sessionId: prefixedId('session', id), checkpointId };
}
