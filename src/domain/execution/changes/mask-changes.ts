import type { FileChange } from '../../../git/diff/file-change.ts';
import { createThreadPool, ThreadError, threadProgram } from '../../../threads/thread-pool.ts';
import { createSpanFinder, type FindSpans } from '../runs/secret-spans.ts';
import { maskFile, maskPatch } from './mask-lines.ts';

/** The changed files of a repository, and their patch. */
export interface MaskableChanges {
  readonly files: readonly FileChange[];
  /** Null: it is too large. */
  readonly patch: Buffer | null;
}

/** Masks the secrets in changes. Null: that takes too long. */
export type MaskChanges = (changes: MaskableChanges) => Promise<MaskableChanges | null>;

/** A task of the thread. `patch`: bytes without a class. */
export interface MaskTask {
  readonly values: readonly string[];
  readonly files: readonly FileChange[];
  readonly patch: Uint8Array | null;
}

/** The answer to a {@link MaskTask}. */
export type MaskAnswer = Omit<MaskTask, 'values'>;

/** Characters that are masked without a thread. More of them keep the event loop from other work: 1 MB takes about half a second. */
const maxInlineLength = 32_768;

/** The next turn waits for it. */
const limitMs = 20_000;

const pool = createThreadPool<MaskAnswer>({
  program: threadProgram('mask-thread', import.meta.url),
  maxThreads: 1,
  memory: { oldGenerationMb: 1_024, youngGenerationMb: 64 },
  idleMs: 10_000,
});

/** Creates the {@link MaskChanges} of these secrets. `key`: the owner of the changes; the changes of several owners are masked in turn. */
export function createMaskChanges(values: readonly string[], key: string, timeoutMs = limitMs): MaskChanges {
  const findSpans = createSpanFinder(values);
  if (findSpans === null) return async (changes) => changes;
  return async (changes) => {
    if (lengthOf(changes) <= maxInlineLength) return maskChanges(changes, findSpans);
    const task: MaskTask = { values, ...changes };
    try {
      const { files, patch } = await pool.run({ message: task, limitMs: timeoutMs, key });
      return { files, patch: patch === null ? null : bytesOf(patch) };
    } catch (error) {
      // Not even the names are masked here: an agent can make them as long as it likes.
      if (error instanceof ThreadError) return null;
      throw error;
    }
  };
}

/** Masks changes in the current thread. */
export function maskChanges({ files, patch }: MaskableChanges, findSpans: FindSpans): MaskableChanges {
  return {
    files: files.map((file) => maskFile(file, findSpans)),
    patch: patch === null ? null : maskPatch(patch, findSpans),
  };
}

/** Returns bytes as a Buffer with the same memory. */
export function bytesOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

// The patch has the lines of the files again.
function lengthOf({ files, patch }: MaskableChanges): number {
  let length = patch?.length ?? 0;
  for (const { path, hunks } of files) {
    length += path.length;
    for (const { lines } of hunks ?? []) for (const line of lines) length += line.length;
  }
  return length;
}
