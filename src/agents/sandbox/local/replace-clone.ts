import { lstat, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { checkedGit } from '../../../git/checked-git.ts';
import { type Clone, type CloneRequest, cloneRepository } from '../../../git/clone.ts';
import type { Confine } from '../../../git/diff/scratch.ts';
import { inTime } from '../../../git/in-time.ts';
import type { Mirrors } from '../../../git/mirrors.ts';
import { RepositoryError } from '../../../git/repository-error.ts';
import { runGit } from '../../../git/run-git.ts';
import { removeTree } from '../../../store/delete-tree.ts';

/** A clone of another session that becomes a new one. */
export interface ReplaceRequest extends CloneRequest {
  /** The commit that its files are of. */
  readonly replaced: string;
  /** A path for the new clone on the same file system, which nothing has. */
  readonly temporary: string;
  readonly confine: Confine | null;
}

/**
 * Replaces the repository of a clone by a new one, and brings its files to the requested state. Files that git did not track stay. Nothing
 * that the earlier repository configures is used: neither its hooks nor its attributes' programs. No process may use the clone. If the
 * files cannot be brought there, a new clone replaces all of them. Rejects with RepositoryError.
 */
export async function replaceClone(mirrors: Mirrors, request: ReplaceRequest): Promise<Clone> {
  const { target, temporary, signal } = request;
  try {
    const clone = await cloneRepository(mirrors, { ...request, target: temporary });
    const isMoved = await moveFiles(mirrors, request, clone).catch((error: unknown) => {
      if (signal.aborted) throw error;
      return false;
    });
    if (isMoved) return clone;
    await emptyDirectory(target);
    return { ...(await cloneRepository(mirrors, request)), isEmptied: true };
  } finally {
    // Nothing waits for it. What a crash leaves is deleted with the directory of the session.
    void removeTree(temporary).catch(() => undefined);
  }
}

async function moveFiles(
  mirrors: Mirrors,
  { repository, target, temporary, replaced, confine, signal }: ReplaceRequest,
  { head }: Clone,
): Promise<boolean> {
  const mirror = await mirrors.open(repository);
  if (head === null || !(await lstat(target)).isDirectory() || !(await mirror.has(replaced, signal))) return false;
  const git = join(target, '.git');
  await removeTree(git);
  await rename(join(temporary, '.git'), git);
  const launcher = confine?.({ readable: [mirror.objects], writable: [target] });
  const { path, marks: env, limits } = mirrors;
  const options = { path, env, cwd: target, maxMemoryBytes: limits.maxMemoryBytes, ...(launcher && { launcher }) };
  await inTime(limits.checkoutMs, signal, async (timed) => {
    const inClone = { ...options, signal: timed };
    await checkedGit(['read-tree', replaced], inClone);
    // It exits with 1 if the commands of the other session have changed files.
    await runGit(['update-index', '-q', '--refresh'], inClone);
    await checkedGit(['reset', '-q', '--hard', head], inClone);
  });
  return true;
}

// The directory itself is replaced, unless it is the workspace, which must stay the same one.
async function emptyDirectory(path: string): Promise<void> {
  if (!(await lstat(path)).isDirectory()) {
    await removeTree(path);
    return;
  }
  for (const name of await readdir(path)) await removeTree(join(path, name));
  if ((await readdir(path)).length > 0)
    throw new RepositoryError('REFUSED_CONTENT', 'The files of the previous set-up could not be deleted.');
}
