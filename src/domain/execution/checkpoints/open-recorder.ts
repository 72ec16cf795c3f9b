import type { Sandbox } from '../../../agents/sandbox/driver.ts';
import { readNewestCheckpoint } from '../../checkpoints/checkpoint.ts';
import type { Context } from '../../context.ts';
import { appendEntries, type FencedError } from '../../sessions/log.ts';
import type { ClaimedRun } from '../runs/claims.ts';
import type { Mask } from '../runs/masking.ts';
import type { CheckpointMetrics } from './checkpoint-metrics.ts';
import { type CheckpointRecorder, createCheckpointRecorder, noCheckpoints } from './checkpoint-recorder.ts';
import type { MonotonicClock } from './monotonic-clock.ts';
import { createSafetyNotices } from './safety-notices.ts';
import { createSessionSaver } from './session-saver.ts';

/** Options of {@link openCheckpointRecorder}. */
export interface OpenRecorderOptions {
  readonly organizationId: string;
  readonly sandbox: Sandbox;
  readonly mask: Mask;
  readonly metrics: CheckpointMetrics;
  readonly clock: MonotonicClock;
  onLost(error: FencedError): void;
}

/** Opens the recorder of a run. It saves nothing if checkpoints are switched off, or the sandbox cannot save its workspace. */
export async function openCheckpointRecorder(
  context: Context,
  run: ClaimedRun,
  { organizationId, sandbox, mask, metrics, clock, onLost }: OpenRecorderOptions,
): Promise<CheckpointRecorder> {
  if (!context.checkpoints.isOn || sandbox.openSaver === undefined) return noCheckpoints;
  const { sessionId, generation } = run;
  const newest = await readNewestCheckpoint(context, sessionId);
  const notices = createSafetyNotices(async (body) => {
    await appendEntries(context.store, sessionId, generation, [{ kind: 'NOTICE', body }], context.now());
    context.notifier.notify(`session:${sessionId}`);
  }, newest?.missing ?? []);
  const openSaver: typeof sandbox.openSaver = (options) => {
    if (sandbox.openSaver === undefined) throw new Error('The sandbox cannot save its workspace any more.');
    return sandbox.openSaver(options);
  };
  const saver = createSessionSaver(context, run, { organizationId, openSaver, mask });
  return createCheckpointRecorder(context, { sessionId, saver, notices, metrics, clock, onLost });
}
