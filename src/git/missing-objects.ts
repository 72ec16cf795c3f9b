import { realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readRefIds } from './clone-refs.ts';
import { checkObjects } from './diff/bundle.ts';
import { defaultChangeLimits } from './diff/file-change.ts';
import { type Confine, openScratch, type Scratch } from './diff/scratch.ts';
import { RepositoryError } from './repository-error.ts';

/** A clone that borrows the objects of a mirror, and nothing else. */
export interface BorrowingClone {
  /** The absolute path of the workspace. No file outside of it is read. */
  readonly workspace: string;
  /** The path of the clone. */
  readonly clone: string;
  /** The directory of the mirror's objects. */
  readonly objects: string;
  /** The complete id of the commit that the work began at; null: the repository was empty. */
  readonly base: string | null;
  /** A directory of the service for temporary files, outside of all workspaces. */
  readonly temporary: string;
  /** The PATH in which git is searched. */
  readonly path: string;
  readonly confine: Confine | null;
  readonly signal: AbortSignal;
}

/** The objects that a clone lacks. */
export interface MissingObjects {
  readonly isComplete: boolean;
  /** The ids that its refs name and that are missing, and its base. Empty: others are missing, or none. */
  readonly ids: readonly string[];
}

const defaultFormat = 40;

/**
 * Checks that git can read what the refs of a clone name, with the objects of its mirror. Nothing that the clone configures is
 * executed: git works in a repository of its own. Rejects with RepositoryError if the clone has an unusual form.
 */
export async function findMissingObjects(request: BorrowingClone): Promise<MissingObjects> {
  const { clone, objects, base, confine, path, signal } = request;
  await checkObjects(clone, objects);
  const named = await readRefIds(clone);
  const length = base?.length ?? named[0]?.length ?? defaultFormat;
  const ids = [...new Set([...(base === null ? [] : [base]), ...named])].filter((id) => id.length === length);
  if (ids.length === 0) return { isComplete: true, ids: [] };
  const workspace = await realpath(request.workspace);
  const options = {
    parent: await realpath(request.temporary),
    clone,
    readable: [workspace, objects],
    path,
    confine,
    limits: defaultChangeLimits,
    signal,
  };
  const scratch = await openScratch(options, length === 64 ? 'sha256' : 'sha1');
  try {
    const inMirror = await findIds(scratch, [objects], ids);
    const own = join(workspace, clone.slice(request.workspace.length), '.git', 'objects');
    const found = await findIds(scratch, [objects, own], ids);
    const missing = ids.filter((id) => !found.has(id));
    if (missing.length > 0) return { isComplete: false, ids: missing };
    // The mirror is complete: what its commits need is there.
    const input = [...ids.filter((id) => !inMirror.has(id)), ...[...inMirror].map((id) => `^${id}`), ''].join('\n');
    if (inMirror.size === ids.length) return { isComplete: true, ids: [] };
    return { isComplete: await isReadable(scratch, input), ids: [] };
  } finally {
    await scratch.close();
  }
}

async function findIds(
  scratch: Scratch,
  directories: readonly string[],
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  await writeFile(join(scratch.gitDir, 'objects', 'info', 'alternates'), `${directories.join('\n')}\n`);
  const output = await scratch.git(['cat-file', '--batch-check=%(objectname)'], { input: `${ids.join('\n')}\n` });
  return new Set(output.split('\n').filter((line) => line !== '' && !line.endsWith(' missing')));
}

async function isReadable(scratch: Scratch, input: string): Promise<boolean> {
  try {
    await scratch.git(['rev-list', '--objects', '--quiet', '--stdin'], { input });
    return true;
  } catch (error) {
    if (error instanceof RepositoryError && error.code === 'REFUSED_CONTENT') return false;
    throw error;
  }
}
