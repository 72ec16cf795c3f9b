import type { CheckpointDriver } from './driver.ts';
import { createSaveProcess, type SaveProcessOptions } from './save/save-process-client.ts';

/** Options of {@link createSegmentsDriver}. */
export interface SegmentsDriverOptions extends SaveProcessOptions {
  readonly restore: CheckpointDriver['restore'];
}

/**
 * Our own driver: saves what has changed in encrypted segments, in one process for all sessions of the worker. It needs nothing but Node, on
 * Linux or macOS, as any user (docs/decisions/0055-save-workspaces-with-our-own-driver.md).
 */
export function createSegmentsDriver({ restore, ...options }: SegmentsDriverOptions): CheckpointDriver {
  const saves = createSaveProcess(options);
  return {
    name: 'segments',
    capabilities: { isIncremental: true, canBrowse: true },
    open: async (target) => saves.open(target),
    restore,
    close: () => saves.close(),
  };
}
