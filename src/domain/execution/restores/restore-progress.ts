import type { SegmentSource } from '../../../checkpoints/driver.ts';
import type { Context } from '../../context.ts';
import { appendEntries } from '../../sessions/log.ts';
import type { ClaimedRun } from '../runs/claims.ts';
import type { RestorableCheckpoint } from './restore-candidates.ts';

/** Follows one restore, and tells the session's log about one that takes long. */
export interface RestoreProgress {
  /** Returns a source that counts what is read from another one. */
  watch(source: SegmentSource): SegmentSource;
  /** Ends the entries. Never rejects. */
  end(): Promise<void>;
}

/** The time after which a restore is mentioned, and the time between two entries. */
const firstMs = 3_000;
const nextMs = 15_000;

/** Creates the {@link RestoreProgress} of a run's restore. */
export function createRestoreProgress(
  context: Context,
  run: ClaimedRun,
  { segmentIds, files, bytes }: Pick<RestorableCheckpoint, 'segmentIds' | 'files' | 'bytes'>,
): RestoreProgress {
  const begun = new Set<string>();
  let appending: Promise<unknown> = Promise.resolve();
  const size = `${files.toLocaleString('en-US')} files, ${Math.max(1, Math.round(bytes / 1_048_576))} MB`;
  const append = () => {
    const percent = Math.min(99, Math.round((100 * begun.size) / Math.max(1, segmentIds.length)));
    const body = `The workspace is being restored: ${percent}% of ${size}.`;
    const entry = { kind: 'NOTICE', body, data: { workspace: { state: 'restoring', percent } } } as const;
    appending = appending
      .then(() => appendEntries(context.store, run.sessionId, run.generation, [entry], context.now()))
      .then(() => context.notifier.notify(`session:${run.sessionId}`))
      // The write after the restore reports a lost session, and a database that does not answer.
      .catch(() => undefined);
  };
  let timer = setTimeout(function again() {
    append();
    timer = setTimeout(again, nextMs).unref();
  }, firstMs).unref();
  return {
    watch: (source) => ({
      read(id, range) {
        begun.add(id);
        return source.read(id, range);
      },
    }),
    end() {
      clearTimeout(timer);
      return appending.then(() => undefined);
    },
  };
}
