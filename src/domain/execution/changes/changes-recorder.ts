import type { Readable } from 'node:stream';
import type { Sandbox } from '../../../agents/sandbox/driver.ts';
import type { RepositoryChanges } from '../../../git/diff/file-change.ts';
import type { Snapshot } from '../../../git/diff/snapshot.ts';
import type { Context } from '../../context.ts';
import { FencedError } from '../../sessions/log.ts';
import { type ChangeFiles, storeChanges } from '../../sessions/repository-changes/store-changes.ts';
import {
  mirrorKeyOfRow,
  readSessionRepositories,
  type SessionRepositoryRow,
} from '../repositories/session-repositories.ts';
import type { ClaimedRun } from '../runs/claims.ts';
import { createMaskChanges, type MaskChanges } from './mask-changes.ts';
import { maxPatchBytes, readBaseline, writeBaseline } from './turn-baseline.ts';

/** Compares the repositories of a run's session with their base, and stores what differs. */
export interface ChangesRecorder {
  /** Stores the changes at the end of a turn. Throws FencedError; any other error is logged. */
  turnEnded(turn: number): Promise<void>;
  /** Stores the changes of an open turn, unless that is being done. Never throws. */
  refresh(turn: number): void;
  /** Resolves when all work has ended. */
  settled(): Promise<void>;
}

/** The run of a {@link ChangesRecorder}. */
export interface ChangesRecorderOptions {
  readonly organizationId: string;
  readonly sandbox: Sandbox;
  /** The secrets that are masked. */
  readonly secretValues: readonly string[];
  readonly signal: AbortSignal;
}

/** The time for one repository: the next turn waits for it. */
const timeoutMs = 20_000;

/** Creates the {@link ChangesRecorder} of a run. */
export function createChangesRecorder(
  context: Context,
  run: ClaimedRun,
  options: ChangesRecorderOptions,
): ChangesRecorder {
  let working: Promise<void> = Promise.resolve();
  let isRefreshing = false;
  const maskChanges = createMaskChanges(options.secretValues, run.sessionId);
  const recordAll = async (turn: number, isEnd: boolean) => {
    if (options.sandbox.openSnapshot === undefined) return;
    const { enterpriseId, repositories } = await readSessionRepositories(context, run.sessionId);
    for (const row of repositories.filter(({ state }) => state === 'READY')) {
      try {
        await recordOne(context, run, { ...options, maskChanges, enterpriseId, row, turn, isEnd });
      } catch (error) {
        if (error instanceof FencedError) throw error;
        const fields = { err: error, sessionId: run.sessionId, repository: row.path, turn };
        if (!options.signal.aborted) context.log.warn(fields, 'The changes of a repository could not be stored.');
      }
    }
  };
  const enqueue = (turn: number, isEnd: boolean) => {
    const done = working.then(() => recordAll(turn, isEnd));
    working = done.catch((error: unknown) => {
      if (error instanceof FencedError) return;
      context.log.warn({ err: error, sessionId: run.sessionId, turn }, 'The changes of a turn could not be stored.');
    });
    return done;
  };
  return {
    async turnEnded(turn) {
      await enqueue(turn, true).catch((error: unknown) => {
        if (error instanceof FencedError) throw error;
      });
    },
    refresh(turn) {
      if (isRefreshing) return;
      isRefreshing = true;
      void enqueue(turn, false)
        .catch(() => undefined)
        .finally(() => {
          isRefreshing = false;
        });
    },
    settled: () => working,
  };
}

interface OneRepository extends ChangesRecorderOptions {
  readonly maskChanges: MaskChanges;
  readonly enterpriseId: string;
  readonly row: SessionRepositoryRow;
  readonly turn: number;
  readonly isEnd: boolean;
}

async function recordOne(context: Context, run: ClaimedRun, input: OneRepository): Promise<void> {
  const { sandbox, row, enterpriseId, signal, maskChanges, turn, isEnd } = input;
  const { position, baseCommit: base } = row;
  const since = await readBaseline(sandbox.files, position, base);
  const snapshot = await sandbox.openSnapshot?.({
    repository: mirrorKeyOfRow(enterpriseId, row),
    directory: row.directory === '.' ? null : row.directory,
    base,
    since,
    signal,
    limits: { timeoutMs },
  });
  if (snapshot === undefined) return;
  try {
    const changes = await snapshot.changes();
    const ofTurn = await snapshot.changesSince();
    const patch = await bufferOf(snapshot.patch(), maxPatchBytes);
    const turnPatch = ofTurn === null ? null : await bufferOf(snapshot.patch(true), maxPatchBytes);
    const target = { organizationId: input.organizationId, position, baseCommit: base, name: nameOf(row) };
    const whole = { turn: 0, ...(await masked(changes, patch, maskChanges)) };
    // In the first turn, both patches are the same.
    const isSame = patch !== null && turnPatch?.equals(patch) === true;
    const maskOfTurn = async (ofTurn: RepositoryChanges) => ({
      ...(await masked(ofTurn, isSame ? null : turnPatch, maskChanges)),
      ...(isSame && { patch: whole.patch }),
    });
    // Its commits cannot be masked.
    const hasSecret = patch === null || whole.patch === null || !patch.equals(whole.patch);
    const bundle = hasSecret ? null : await bundleOf(snapshot, row.branch);
    const own = ofTurn === null ? [] : [{ turn, ...(await maskOfTurn(ofTurn)), bundle: null }];
    await storeChanges(context, run, target, [{ ...whole, bundle }, ...own]);
    if (isEnd) await writeBaseline(sandbox.files, { position, base }, { changes, patch });
  } finally {
    await snapshot.close();
  }
}

// Without their files if these cannot be masked in time.
async function masked(
  changes: RepositoryChanges,
  patch: Buffer | null,
  maskChanges: MaskChanges,
): Promise<Pick<ChangeFiles, 'changes' | 'files' | 'patch'>> {
  if (changes.files.length === 0) return { changes, files: [], patch: null };
  const found = await maskChanges({ files: changes.files, patch });
  return found === null
    ? { changes: { ...changes, isTruncated: true }, files: [], patch: null }
    : { changes, ...found };
}

// A clone without new commits has none, and one of an unusual form cannot have one.
async function bundleOf(snapshot: Snapshot, branch: string): Promise<Buffer | null> {
  try {
    const bundle = await snapshot.bundle(branch);
    return bundle === null ? null : await bufferOf(bundle, maxBundleBytes);
  } catch {
    return null;
  }
}

const maxBundleBytes = 32 * 1_048_576;

// Null: it is larger.
async function bufferOf(stream: Readable, maxBytes: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      stream.destroy();
      return null;
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function nameOf({ path }: SessionRepositoryRow): string {
  return path.split('/').at(-1) ?? 'repository';
}
