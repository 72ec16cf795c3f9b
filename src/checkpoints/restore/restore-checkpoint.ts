import { randomBytes } from 'node:crypto';
import { chmod, lchown, mkdir, readdir, rename, utimes } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { removeTree } from '../../store/delete-tree.ts';
import { createThreadPool, ThreadError, threadProgram } from '../../threads/thread-pool.ts';
import {
  type CheckpointContent,
  CheckpointError,
  type CheckpointRoot,
  checkpointRoots,
  type RestoreReport,
  type RestoreRequest,
} from '../driver.ts';
import type { Entry } from '../manifest.ts';
import { refusedBySystem, stopped } from '../segment-reader.ts';
import { timeOf } from './entry-writer.ts';
import { fetchSegments } from './fetch-segments.ts';
import type { RestoreAnswer, RestoreTask } from './restore-thread.ts';
import { SharedProgress } from './shared-progress.ts';

/** Writing more than this many files takes longer than starting a second thread. */
const filesOfOneThread = 500;

const maxSegments = 10_000;

const maxRestoreMs = 3_600_000;

const memory = { oldGenerationMb: 2_048, youngGenerationMb: 64 };

/**
 * Restores a checkpoint by threads of its own: see `CheckpointDriver.restore`. Everything is written beside the directories first, and
 * renamed when it is complete.
 */
export async function restoreCheckpoint(request: RestoreRequest): Promise<RestoreReport> {
  const suffix = `restore-${randomBytes(6).toString('hex')}`;
  const beside = (root: CheckpointRoot) => `${request.directories[root]}.${suffix}`;
  const staging = { workspace: beside('workspace'), home: beside('home'), records: beside('records') };
  const spool = join(request.spoolDir, suffix);
  try {
    if (request.signal.aborted) throw stopped();
    for (const root of checkpointRoots) await requireFree(request.directories[root]);
    for (const root of checkpointRoots) await mkdir(staging[root], { recursive: true, mode: 0o700 });
    await mkdir(spool, { recursive: true, mode: 0o700 });
    const { report, roots: entries } = await writeStaging(request, staging, spool);
    await renameAll(checkpointRoots.map((root) => [staging[root], request.directories[root]]));
    for (const root of checkpointRoots) await setAttributes(request.directories[root], entries[root], request.owner);
    return report;
  } catch (error) {
    if (error instanceof CheckpointError) throw error;
    throw refusedBySystem('The files cannot be restored', error);
  } finally {
    // Files that are left are no reason to fail.
    for (const path of [...Object.values(staging), spool]) await removeTree(path).catch(() => undefined);
  }
}

async function renameAll([first, ...others]: readonly (readonly [from: string, to: string])[]): Promise<void> {
  if (first === undefined) return;
  const [from, to] = first;
  await rename(from, to);
  try {
    await renameAll(others);
  } catch (error) {
    await rename(to, from);
    throw error;
  }
}

async function requireFree(path: string): Promise<void> {
  const names = await readdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  if (names.length > 0) throw new CheckpointError('FAILED', 'A checkpoint can be restored to empty directories only.');
}

type Done = Extract<RestoreAnswer, { report: unknown }>;

async function writeStaging(
  request: RestoreRequest,
  directories: RestoreTask['directories'],
  spool: string,
): Promise<Done> {
  const { content, key, segments: source, owner } = request;
  const { segments, manifests } = segmentsOf(content);
  const files = content.files.files + (content.ignored?.files ?? 0);
  const threads = files > filesOfOneThread ? Math.min(2, availableParallelism()) : 1;
  const progress = SharedProgress.of(segments.length);
  const pool = createThreadPool<RestoreAnswer>({ program, maxThreads: threads, memory, idleMs: 0 });
  const abort = new AbortController();
  const stop = () => {
    abort.abort();
    progress.stop();
    void pool.stop();
  };
  request.signal.addEventListener('abort', stop, { once: true });
  const task = { threads, content, key, spool, segments, directories, owner, umask: process.umask() };
  const run = async (thread: number): Promise<Done | null> => {
    const message: RestoreTask = { ...task, thread, progress: progress.memory };
    const answer = await pool.run({ message, limitMs: maxRestoreMs });
    if ('report' in answer) return answer;
    if ('isStopped' in answer) return null;
    const cause = answer.systemCode === null ? undefined : { code: answer.systemCode };
    throw new CheckpointError(answer.code, answer.message, { cause });
  };
  try {
    const fetching = fetchSegments({ segments, manifests, source, spool, progress, signal: abort.signal });
    const running = Array.from({ length: threads }, (_, thread) => stopAllAfter(run(thread), stop));
    const [answers] = await Promise.all([Promise.all(running), stopAllAfter(fetching, stop)]);
    const [done] = answers;
    if (!done || answers.includes(null)) throw stopped();
    return done;
  } catch (error) {
    throw request.signal.aborted ? stopped() : fromThread(error);
  } finally {
    request.signal.removeEventListener('abort', stop);
    await pool.stop();
  }
}

const program = threadProgram('restore-thread', import.meta.url);

/** The segments in the order in which they are needed: first those with manifests. */
function segmentsOf({ files, ignored }: CheckpointContent): { segments: string[]; manifests: number } {
  const layers = ignored === null ? [files] : [files, ignored];
  const manifests = new Set(layers.flatMap(({ manifest }) => manifest));
  const segments = [...new Set([...manifests, ...layers.flatMap((layer) => layer.segments)])];
  if (segments.length > maxSegments || !segments.every((id) => /^[0-9a-f]{32}$/.test(id))) {
    throw new CheckpointError('DAMAGED', 'The segments of the checkpoint are no valid list.');
  }
  return { segments, manifests: manifests.size };
}

async function stopAllAfter<T>(work: Promise<T>, stop: () => void): Promise<T> {
  try {
    return await work;
  } catch (error) {
    stop();
    throw error;
  }
}

function fromThread(error: unknown): unknown {
  if (!(error instanceof ThreadError)) return error;
  return new CheckpointError('FAILED', `A thread that restores a checkpoint failed (${error.reason}).`, {
    cause: error,
  });
}

// At the end: a directory without write permission cannot be renamed.
async function setAttributes(path: string, entry: Entry | null, owner: RestoreRequest['owner']): Promise<void> {
  if (owner !== null) await lchown(path, owner.uid, owner.gid);
  if (entry === null) return;
  await chmod(path, entry.mode);
  const time = timeOf(entry);
  await utimes(path, time, time);
}
