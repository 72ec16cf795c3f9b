import type { Metrics } from '../../../metrics/metrics.ts';

/** Figures of the checkpoints of one worker since its start. */
export interface CheckpointFigures {
  readonly saved: number;
  readonly failed: number;
  readonly storedBytes: number;
  /** Milliseconds of all saves that succeeded, and of the longest. */
  readonly totalMs: number;
  readonly maxMs: number;
  /** Sessions whose changes have not been stored for 30 seconds. */
  readonly unsafeSessions: number;
  /** Milliseconds since the oldest change of a session that is not stored; 0: there is none. */
  readonly oldestUnsavedMs: number;
}

/** The state of one session that counts for the {@link CheckpointFigures}. */
export interface SessionSafety {
  readonly isUnsafe: boolean;
  readonly unsavedMs: number;
}

/** Counts the checkpoints of a worker. */
export interface CheckpointMetrics {
  saved(ms: number, storedBytes: number): void;
  failed(): void;
  /** Includes a session until the returned function is called. */
  watch(safetyOf: () => SessionSafety): () => void;
  read(): CheckpointFigures;
}

/** Creates the counts of a worker. They are added to those of its process, too. */
export function createCheckpointMetrics(metrics: Metrics): CheckpointMetrics {
  const watched = new Set<() => SessionSafety>();
  const counts = { saved: 0, failed: 0, storedBytes: 0, totalMs: 0, maxMs: 0 };
  return {
    saved(ms, storedBytes) {
      metrics.checkpoints.inc({ result: 'saved' });
      metrics.checkpointDuration.observe(ms / 1_000);
      metrics.checkpointBytes.inc(storedBytes);
      counts.saved += 1;
      counts.storedBytes += storedBytes;
      counts.totalMs += ms;
      counts.maxMs = Math.max(counts.maxMs, ms);
    },
    failed() {
      metrics.checkpoints.inc({ result: 'failed' });
      counts.failed += 1;
    },
    watch(safetyOf) {
      watched.add(safetyOf);
      return () => watched.delete(safetyOf);
    },
    read() {
      const all = [...watched].map((safetyOf) => safetyOf());
      return {
        ...counts,
        unsafeSessions: all.filter(({ isUnsafe }) => isUnsafe).length,
        oldestUnsavedMs: Math.max(0, ...all.map(({ unsavedMs }) => unsavedMs)),
      };
    },
  };
}
