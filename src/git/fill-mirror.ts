import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from '../store/delete-tree.ts';
import { isThere } from './mirror-files.ts';
import type { GitProgress } from './progress.ts';
import type { GitRemote } from './remote.ts';

/** A mirror without any object. */
export interface EmptyMirror {
  readonly directory: string;
  /** The directory in which the clone is made, on the same file system. */
  readonly clones: string;
  /** Runs git in it. Rejects with RepositoryError if git fails. */
  git(
    args: readonly string[],
    options: { readonly signal: AbortSignal; readonly remote?: GitRemote; onProgress?(progress: GitProgress): void },
  ): Promise<{ readonly stdout: string }>;
  /** Runs a git that changes refs. */
  write(args: readonly string[], options: { readonly signal: AbortSignal }): Promise<unknown>;
}

/**
 * Fetches a branch or tag into an empty mirror by `git clone`, and moves its packs and its ref into the mirror. A clone checks that
 * all objects are there while it indexes them; a fetch walks through the whole history once more. Returns false if the mirror
 * is as before, and a fetch must decide: the remote is shallow, has another hash, or has the ref no longer. Rejects with
 * RepositoryError.
 */
export async function fillMirror(
  mirror: EmptyMirror,
  { ref, remote }: { readonly ref: string; readonly remote: GitRemote },
  options: { readonly signal: AbortSignal; onProgress?(progress: GitProgress): void },
): Promise<boolean> {
  const { signal } = options;
  const name = ref.replace(/^refs\/(?:heads|tags)\//, '');
  const made = join(mirror.clones, randomBytes(8).toString('hex'));
  try {
    await mkdir(made, { recursive: true, mode: 0o700 });
    const clone = ['clone', '--bare', '--progress', '--single-branch', '--no-tags', `--branch=${name}`];
    await mirror.git([...clone, '--', remote.url, made], { ...options, remote });
    // A branch and a tag can have the same name, of which git takes the branch.
    const list = ['--git-dir', made, 'for-each-ref', '--format=%(objectname)', ref];
    const id = (await mirror.git(list, { signal })).stdout.trim();
    if (!/^[0-9a-f]{40}$/.test(id) || (await isThere(join(made, 'shallow')))) return false;
    await movePacks(made, mirror.directory);
    await mirror.write(['update-ref', ref, id], { signal });
    return true;
  } finally {
    await removeTree(made);
  }
}

// Git finds a pack by its index, which comes last.
async function movePacks(from: string, to: string): Promise<void> {
  const names = await readdir(join(from, 'objects', 'pack'));
  const isIndex = (name: string) => Number(name.endsWith('.idx'));
  for (const name of names.toSorted((a, b) => isIndex(a) - isIndex(b)))
    await rename(join(from, 'objects', 'pack', name), join(to, 'objects', 'pack', name));
}
