import { readFile, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkedGit } from './checked-git.ts';
import { fillMirror } from './fill-mirror.ts';
import { inTime } from './in-time.ts';
import type { Locks } from './locks.ts';
import { maintainMirror } from './maintain-mirror.ts';
import { measurePacks, removeLeftovers } from './mirror-files.ts';
import { checkSpace, type MirrorLimits, tooLarge, watchFetch } from './mirror-limits.ts';
import type { GitProgress } from './progress.ts';
import type { GitRemote } from './remote.ts';
import type { RepositoryError } from './repository-error.ts';
import { type GitOutcome, runGit } from './run-git.ts';

/** A bare repository with the objects of a forge's repository. Nothing is ever pruned from it. */
export interface Mirror {
  readonly directory: string;
  /** The directory of its objects, which clones borrow. */
  readonly objects: string;
  /** Runs git in it. See {@link runGit}; rejects with RepositoryError if git fails. */
  git(args: readonly string[], options: MirrorGitOptions): Promise<GitOutcome>;
  /** Returns true if it has the object. */
  has(id: string, signal: AbortSignal): Promise<boolean>;
  /** Returns true if a commit is another one, or one of its ancestors. False if the mirror lacks one of them. */
  isAncestor(id: string, of: string, signal: AbortSignal): Promise<boolean>;
  /** Sets the default branch. */
  setHead(branch: string, signal: AbortSignal): Promise<void>;
  /** Runs a git that changes refs, alone in this mirror. Removes a lock that a killed git left. */
  write(args: readonly string[], options: MirrorGitOptions): Promise<GitOutcome>;
  /** Fetches refs from the remote. One fetch at a time runs in a mirror. */
  fetch(remote: GitRemote, refspecs: readonly string[], options: MirrorGitOptions): Promise<void>;
  /** A number that changes with each fetch, and so with each change of its refs. */
  refsVersion(): number;
  /** Records that a borrower's clone uses its objects. */
  lend(borrowerId: string): Promise<void>;
  /** See {@link maintainMirror}. One maintenance at a time runs in a mirror. */
  maintain(signal: AbortSignal): Promise<boolean>;
}

/** Options of git commands in a mirror. */
export interface MirrorGitOptions {
  readonly signal: AbortSignal;
  readonly remote?: GitRemote;
  onProgress?(progress: GitProgress): void;
  /** As in {@link runGit}. */
  onOutput?(chunk: Buffer): void;
}

/** The parts of a mirror: its directory, and what it shares with the other mirrors of this process. */
export interface MirrorParts {
  readonly directory: string;
  /** An empty directory may be made here; see {@link fillMirror}. On the same file system. */
  readonly clones: string;
  readonly path: string;
  readonly marks: Readonly<Record<string, string>>;
  readonly limits: MirrorLimits;
  readonly lock: Locks['run'];
  /** See {@link Mirror.refsVersion}, by the directories of mirrors. */
  readonly refsVersions: Map<string, number>;
  /** The directories of the mirrors that git is repacking now. */
  readonly maintained: Set<string>;
}

/** Opens the mirror in a directory. */
export function mirrorAt({
  directory,
  clones,
  path,
  marks,
  limits,
  lock,
  refsVersions,
  maintained,
}: MirrorParts): Mirror {
  const refsVersion = () => refsVersions.get(directory) ?? 0;
  let packBytes = 0;
  const git = async (args: readonly string[], { signal, remote, onProgress, onOutput }: MirrorGitOptions) => {
    const stop = new AbortController();
    let exceeded: RepositoryError | null = null;
    const watch = watchFetch(
      directory,
      limits,
      () => packBytes,
      (error) => {
        exceeded ??= error;
        stop.abort();
      },
    );
    const options = {
      cwd: directory,
      path,
      maxMemoryBytes: limits.maxMemoryBytes,
      ...(onOutput && { onOutput }),
      env: { ...marks, ...remote?.env },
      ...(remote && { protocol: 'http' as const }),
      onProgress: (progress: GitProgress) => {
        watch(progress);
        onProgress?.(progress);
      },
    };
    try {
      const outcome = await inTime(limits.commandMs, signal, (timed) =>
        checkedGit(args, { ...options, signal: AbortSignal.any([timed, stop.signal]) }),
      );
      if (exceeded !== null) throw exceeded;
      return outcome;
    } catch (error) {
      throw exceeded ?? error;
    }
  };
  // Returns the refspecs that are left to fetch.
  const fill = async (remote: GitRemote, refspecs: readonly string[], options: MirrorGitOptions) => {
    const [first = '', ...others] = refspecs;
    const ref = /^\+(refs\/(?:heads|tags)\/[^*:]+):\1$/.exec(first)?.[1];
    if (ref === undefined) return refspecs;
    const write: Mirror['git'] = (args, more) => withoutLeftLock(directory, () => git(args, more));
    return (await fillMirror({ directory, clones, git, write }, { ref, remote }, options)) ? others : refspecs;
  };
  const mirror: Mirror = {
    directory,
    objects: join(directory, 'objects'),
    git,
    async has(id, signal) {
      const { code } = await runGit(['cat-file', '-e', `${id}^{commit}`], { cwd: directory, path, env: marks, signal });
      return code === 0;
    },
    async isAncestor(id, of, signal) {
      const args = ['merge-base', '--is-ancestor', id, of];
      const { code } = await runGit(args, { cwd: directory, path, env: marks, signal });
      return code === 0;
    },
    async fetch(remote, refspecs, options) {
      await checkSpace(directory, limits);
      await lock(directory, async () => {
        packBytes = await measurePacks(directory);
        if (packBytes > limits.maxMirrorBytes) throw tooLarge(limits.maxMirrorBytes, 'keeps');
        try {
          const left = packBytes === 0 ? await fill(remote, refspecs, options) : refspecs;
          const args = ['fetch', '--progress', '--force', '--no-tags', '--no-write-fetch-head', remote.url, ...left];
          if (left.length > 0) await withoutLeftLock(directory, () => git(args, { ...options, remote }));
        } catch (error) {
          // Git leaves what it has received so far.
          if (!maintained.has(directory))
            await removeLeftovers(join(directory, 'objects', 'pack'), Number.POSITIVE_INFINITY);
          throw error;
        } finally {
          refsVersions.set(directory, refsVersion() + 1);
        }
      });
    },
    refsVersion,
    // Does not wait for a fetch.
    setHead: (branch, signal) =>
      lock(`${directory} HEAD`, async () => {
        const ref = `refs/heads/${branch}`;
        if ((await readFile(join(directory, 'HEAD'), 'utf8')) === `ref: ${ref}\n`) return;
        await withoutLeftLock(directory, () => git(['symbolic-ref', 'HEAD', ref], { signal }));
      }),
    write: (args, options) => lock(directory, () => withoutLeftLock(directory, () => git(args, options))),
    maintain: (signal) =>
      lock(`${directory} maintenance`, async () => {
        maintained.add(directory);
        try {
          return await maintainMirror(mirror, signal);
        } finally {
          maintained.delete(directory);
        }
      }),
    async lend(borrowerId) {
      if (!/^[\w-]{1,100}$/.test(borrowerId)) throw new Error('The borrower of a mirror has no valid id.');
      await writeFile(join(directory, 'borrowers', borrowerId), '');
    },
  };
  return mirror;
}

// Only a git that was killed leaves a lock: the directory belongs to this process, which writes alone.
async function withoutLeftLock<T>(directory: string, work: () => Promise<T>): Promise<T> {
  return work().catch(async (error: unknown) => {
    const left = /Unable to create '([^']+\.lock)': File exists/.exec((error as Error).message)?.[1];
    if (!left?.startsWith(directory)) throw error;
    await unlink(left);
    return work();
  });
}
