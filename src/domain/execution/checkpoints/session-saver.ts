import type { Sandbox } from '../../../agents/sandbox/driver.ts';
import type { CheckpointContent, MissingPart, NewSegment, SavedState, Saver } from '../../../checkpoints/driver.ts';
import { CheckpointError } from '../../../checkpoints/driver.ts';
import { type CheckpointRecord, readNewestCheckpoint } from '../../checkpoints/checkpoint.ts';
import { openCheckpointKey } from '../../checkpoints/checkpoint-key.ts';
import { markUnusedSegments, pruneCheckpoints } from '../../checkpoints/delete-checkpoints.ts';
import { segmentSource } from '../../checkpoints/segment-source.ts';
import type { Context } from '../../context.ts';
import type { ClaimedRun } from '../runs/claims.ts';
import type { Mask } from '../runs/masking.ts';
import {
  addPendingSegments,
  type CheckpointPoint,
  dropPendingSegments,
  readPoint,
  recordCheckpoint,
} from './record-checkpoint.ts';
import type { PlannedSave } from './save-schedule.ts';

/** Options of {@link SessionSaver.save}. */
export interface SessionSave extends PlannedSave {
  readonly isUrgent: boolean;
  readonly signal: AbortSignal;
}

/** The outcome of a save that is stored. */
export interface SessionSaved {
  /** Bytes of its new segments. */
  readonly storedBytes: number;
  readonly missing: readonly MissingPart[];
}

/** Saves a session's workspace and home as checkpoints, one save at a time. */
export interface SessionSaver {
  /** Saves what has changed, and records it. Null: nothing has changed. Rejects with FencedError, or any other error. */
  save(options: SessionSave): Promise<SessionSaved | null>;
  /** Call it before the sandbox is closed, and after the last save has ended. Never rejects. */
  close(): Promise<void>;
}

/** Options of {@link createSessionSaver}. */
export interface SessionSaverOptions {
  readonly organizationId: string;
  readonly openSaver: NonNullable<Sandbox['openSaver']>;
  /** Masks the secrets in the names of files that are left out. */
  readonly mask: Mask;
}

/** Number of checkpoints after which a session's old ones are deleted. */
const pruneEvery = 10;

/** Uploads at the same time. */
const concurrency = 4;

/** Files, directories and links of one session. */
const maxEntries = 1_000_000;

/** Creates the saver of a run. It opens the sandbox's saver at the first save, and again after an error of it. */
export function createSessionSaver(context: Context, run: ClaimedRun, options: SessionSaverOptions): SessionSaver {
  let saver: Saver | null = null;
  let recorded = 0;
  let newest: Pick<CheckpointRecord, 'kind' | 'turn' | 'content' | 'files' | 'bytes' | 'missing'> | null = null;

  const open = async () => {
    if (saver !== null) return saver;
    newest = await readNewestCheckpoint(context, run.sessionId);
    const key = await openCheckpointKey(context, options.organizationId);
    const { maxFileBytes, maxIgnoredBytes } = context.checkpoints;
    const limits = { maxFileBytes, maxIgnoredBytes, maxEntries };
    saver = await options.openSaver({ key, from: newest?.content ?? null, segments: segmentSource(context), limits });
    return saver;
  };
  const close = async () => {
    const closing = saver;
    saver = null;
    await closing?.close();
  };

  const store = async (state: SavedState, point: CheckpointPoint, { kind, signal }: SessionSave) => {
    await addPendingSegments(context, run, state.segments);
    await upload(context, state.segments, signal);
    await recordCheckpoint(context, run, { kind, point, state });
    newest = { ...state, kind, turn: point.turn };
    recorded += 1;
    if (recorded % pruneEvery === 0) await prune();
  };

  // The job deletes the rest.
  const prune = async () => {
    try {
      if ((await pruneCheckpoints(context, [run.sessionId])) > 0) await markUnusedSegments(context, [run.sessionId]);
    } catch (error) {
      context.log.warn(
        { err: error, sessionId: run.sessionId },
        'Old checkpoints of a session could not be deleted yet.',
      );
    }
  };

  // A checkpoint marks the end of each turn, even of one that changed nothing after its last save.
  const markEnd = async (point: CheckpointPoint, save: SessionSave) => {
    if (save.kind !== 'TURN_END' || newest === null) return;
    if (newest.kind === 'TURN_END' && newest.turn === point.turn) return;
    await store({ ...newest, segments: [] }, point, save);
  };

  return {
    async save(save) {
      const { withIgnored, isUrgent, signal } = save;
      const current = await open();
      const reached = await readPoint(context, run);
      const point = { ...reached, turn: save.turn ?? reached.turn };
      let saved: SavedState | null;
      try {
        saved = await current.save({ withIgnored, isUrgent, signal });
      } catch (error) {
        // After any other error than a stop, a new saver starts over.
        if (!isStop(error)) await close();
        throw error;
      }
      if (saved === null) {
        await markEnd(point, save);
        return null;
      }
      const state = withMaskedNames(saved, options.mask);
      try {
        await store(state, point, save);
      } catch (error) {
        await current.abort().catch(close);
        // After a stop, an upload may still be under way: its segment is deleted later.
        if (!isStop(error)) await dropPendingSegments(context, run, state.segments).catch(() => undefined);
        throw error;
      }
      await current.commit().catch(close);
      const storedBytes = state.segments.reduce((sum, segment) => sum + segment.bytes, 0);
      return { storedBytes, missing: state.missing };
    },
    close,
  };
}

async function upload({ segments }: Context, added: readonly NewSegment[], signal: AbortSignal): Promise<void> {
  const waiting = [...added];
  let isFailed = false;
  const work = async () => {
    for (let segment = waiting.pop(); segment !== undefined; segment = waiting.pop()) {
      if (isFailed) return;
      await segments.put(segment.id, segment.path).catch((error: unknown) => {
        isFailed = true;
        throw error;
      });
    }
  };
  const stopped = new Promise<never>((_resolve, reject) => {
    const stop = () => {
      isFailed = true;
      reject(new CheckpointError('STOPPED', 'The upload of a checkpoint was stopped.'));
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  // After a failure, all requests have ended before their files are deleted. A stop does not wait for one that hangs.
  const done = await Promise.race([Promise.allSettled(Array.from({ length: concurrency }, work)), stopped]);
  for (const each of done) if (each.status === 'rejected') throw each.reason;
}

function isStop(error: unknown): boolean {
  return error instanceof CheckpointError && error.code === 'STOPPED';
}

// The names are stored in the clear.
function withMaskedNames(state: SavedState, mask: Mask): SavedState {
  const masked = (missing: readonly MissingPart[]) => missing.map((part) => ({ ...part, path: mask(part.path) }));
  const { files, ignored } = state.content;
  const content: CheckpointContent = {
    ...state.content,
    files: { ...files, missing: masked(files.missing) },
    ignored: ignored && { ...ignored, missing: masked(ignored.missing) },
  };
  return { ...state, content, missing: masked(state.missing) };
}
