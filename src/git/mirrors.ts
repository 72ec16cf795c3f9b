import { createHash, randomBytes } from 'node:crypto';
import { lstat, mkdir, readFile, rename, statfs, unlink, utimes, writeFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { removeTree } from '../store/delete-tree.ts';
import { inGigabytes, type TreeLimits } from './check-tree.ts';
import { checkedGit } from './checked-git.ts';
import { diskFull } from './git-errors.ts';
import { inTime } from './in-time.ts';
import { createLocks, type Locks } from './locks.ts';
import { maintainMirror } from './maintain-mirror.ts';
import { listMirrors, measurePacks, namesIn, removeLeftovers } from './mirror-files.ts';
import type { GitProgress } from './progress.ts';
import { RepositoryError } from './repository-error.ts';
import { type GitOutcome, runGit } from './run-git.ts';
import { createSpares, type SpareLimits, type Spares } from './spares.ts';
import { type SweepLimits, type SweepOptions, type SweepReport, sweepMirrors } from './sweep-mirrors.ts';

/** An address for git's requests, with the variables that lead them to a repository. */
export interface GitRemote {
  /** The address of the repository, for one gateway or forge, without a credential. Only `http` works. */
  readonly url: string;
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** A repository as mirrors identify it. */
export interface MirrorKey {
  /** Mirrors of different owners (enterprises) share nothing. */
  readonly ownerId: string;
  readonly host: string;
  readonly path: string;
}

/** Limits of mirrors and clones. */
export interface MirrorLimits extends TreeLimits, SweepLimits, SpareLimits {
  /** The maximum number of bytes that one fetch may receive. */
  readonly maxFetchBytes: number;
  /** The maximum duration of the checkout of a clone. */
  readonly checkoutMs: number;
  /** Address space of one git command, in bytes. */
  readonly maxMemoryBytes: number;
}

/** The mirrors of a directory, which belongs to this process alone. */
export interface Mirrors {
  readonly directory: string;
  readonly limits: MirrorLimits;
  /** The PATH in which git is searched. */
  readonly path: string;
  /** Clones for the next sessions. */
  readonly spares: Spares;
  /** Variables that mark the git of this process, so that the next one finds it if it is left. */
  readonly marks: Readonly<Record<string, string>>;
  /** Finds or creates the mirror of a repository. */
  open(key: MirrorKey): Promise<Mirror>;
  /**
   * Runs work in the background, unless work with this name has begun within five minutes. {@link Mirrors.close} ends
   * it. Errors are ignored: later work does the same. Resolves when the work has ended, or at once.
   */
  inBackground(name: string, work: (signal: AbortSignal) => Promise<unknown>): Promise<unknown>;
  /** See {@link sweepMirrors}. A mirror is kept while `isBorrowing` is true for one of its borrowers. */
  sweep(now: number, isBorrowing: SweepOptions['isBorrowing']): Promise<SweepReport>;
  /** Maintains each mirror; see {@link Mirror.maintain}. Goes on with the others if one fails. */
  maintain(signal: AbortSignal): Promise<void>;
  /** Removes the clones that an earlier process left. Call it before the first clone. */
  removeLeftClones(): Promise<void>;
  /** Ends the work in the background, and removes spare clones. Never rejects. */
  close(): Promise<void>;
}

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

/** The time after which work in the background is repeated. */
const againMs = 5 * 60_000;

const gibibyte = 1_024 ** 3;

const defaultLimits: MirrorLimits = {
  maxFetchBytes: 8 * gibibyte,
  maxMirrorBytes: 16 * gibibyte,
  maxTotalBytes: 100 * gibibyte,
  minFreeBytes: gibibyte,
  maxTreeEntries: 1_000_000,
  maxTreeBytes: 16 * gibibyte,
  commandMs: 30 * 60_000,
  checkoutMs: 10 * 60_000,
  maxMemoryBytes: Math.min(8 * gibibyte, Math.max(gibibyte, totalmem() / 2)),
  unusedMs: 30 * 86_400_000,
  maxSpares: 4,
  maxSpareWorkMs: 120_000,
  spareMs: 3_600_000,
};

/** Opens the mirrors in a directory, which is created with the first of them. Only one process may use it. */
export function openMirrors(
  directory: string,
  path: string,
  overrides: Partial<MirrorLimits> = {},
  marks: Mirrors['marks'] = {},
): Mirrors {
  const limits = { ...defaultLimits, ...overrides };
  const locks = createLocks();
  const closing = new AbortController();
  const background = new Set<Promise<unknown>>();
  const begun = new Map<string, number>();
  const refsVersions = new Map<string, number>();
  const maintained = new Set<string>();
  const spares = createSpares({ directory: clonesIn(directory), path, env: marks, limits });
  const mirrorIn = (found: string) =>
    mirrorAt({ directory: found, path, marks, limits, lock: locks.run, refsVersions, maintained });
  /** The mirrors that this process has used. */
  const used = new Set<string>();
  const create = async (target: string, { host, path: name }: MirrorKey) => {
    const made = join(dirname(target), `.new-${randomBytes(8).toString('hex')}`);
    await mkdir(made, { recursive: true, mode: 0o700 });
    await checkedGit(['init', '-q', '--bare', '.'], { cwd: made, path, env: marks, signal: closing.signal });
    await mkdir(join(made, 'borrowers'), { mode: 0o700 });
    await writeFile(join(made, 'description'), `${host}/${name}\n`);
    // A complete mirror appears at once, or none.
    await rename(made, target);
  };
  const inBackground: Mirrors['inBackground'] = (name, work) => {
    const now = performance.now();
    for (const [each, at] of begun) if (now - at > againMs) begun.delete(each);
    if (closing.signal.aborted || begun.has(name)) return Promise.resolve();
    begun.set(name, now);
    const running: Promise<unknown> = work(closing.signal).catch(() => undefined);
    background.add(running);
    return running.then(() => background.delete(running));
  };
  return {
    directory,
    limits,
    path,
    spares,
    marks,
    async open(key) {
      const found = pathOf(directory, key);
      await locks.run(found, async () => {
        if (!(await isThere(found))) await create(found, key);
        else if (!used.has(found) && !maintained.has(found)) await removeLeftovers(found, Number.POSITIVE_INFINITY);
        used.add(found);
        const now = new Date();
        await utimes(join(found, 'description'), now, now);
      });
      return mirrorIn(found);
    },
    inBackground,
    async removeLeftClones() {
      const names = await namesIn(clonesIn(directory));
      void inBackground('left clones', async () => {
        // The sweep deletes later what cannot be removed now.
        for (const name of names) await removeTree(join(clonesIn(directory), name)).catch(() => undefined);
      });
    },
    sweep: (now, isBorrowing) => sweepMirrors({ directory, limits, now, isBorrowing, lock: locks.run }),
    async maintain(signal) {
      for (const found of await listMirrors(directory)) {
        if (signal.aborted) return;
        const mirror = mirrorIn(found);
        await mirror.maintain(signal).catch(() => undefined);
      }
    },
    async close() {
      closing.abort();
      await Promise.all([...background, spares.close()]);
    },
  };
}

/** Returns the directory of clones that no session has yet. */
export function clonesIn(directory: string): string {
  return join(directory, '.clones');
}

function pathOf(directory: string, { ownerId, host, path }: MirrorKey): string {
  if (!/^[\w-]{1,100}$/.test(ownerId)) throw new Error('The owner of a mirror has no valid id.');
  // Forges ignore case.
  const name = createHash('sha256').update(`${host}/${path}`.toLowerCase()).digest('hex').slice(0, 40);
  return join(directory, ownerId, `${name}.git`);
}

interface MirrorParts {
  readonly directory: string;
  readonly path: string;
  readonly marks: Mirrors['marks'];
  readonly limits: MirrorLimits;
  readonly lock: Locks['run'];
  /** See {@link Mirror.refsVersion}, by the directories of mirrors. */
  readonly refsVersions: Map<string, number>;
  /** The directories of the mirrors that git is repacking now. */
  readonly maintained: Set<string>;
}

function mirrorAt({ directory, path, marks, limits, lock, refsVersions, maintained }: MirrorParts): Mirror {
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
      const args = ['fetch', '--progress', '--force', '--no-tags', '--no-write-fetch-head', remote.url, ...refspecs];
      await lock(directory, async () => {
        packBytes = await measurePacks(directory);
        if (packBytes > limits.maxMirrorBytes) throw tooLarge(limits.maxMirrorBytes, 'keeps');
        try {
          await withoutLeftLock(directory, () => git(args, { ...options, remote }));
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

function tooLarge(maxBytes: number, verb: 'fetches' | 'keeps'): RepositoryError {
  const message = `It is larger than ${inGigabytes(maxBytes)} GB, the most that a worker ${verb}.`;
  return new RepositoryError('TOO_LARGE', message);
}

async function checkSpace(directory: string, { minFreeBytes }: MirrorLimits): Promise<void> {
  const { bavail, bsize } = await statfs(directory);
  if (bavail * bsize < minFreeBytes) throw diskFull();
}

/** Ends a fetch that receives too much, or that fills the disk. */
function watchFetch(
  directory: string,
  limits: MirrorLimits,
  packBytes: () => number,
  onExceeded: (error: RepositoryError) => void,
) {
  let isChecking = false;
  return ({ bytes }: GitProgress) => {
    if (bytes !== null && bytes > limits.maxFetchBytes) onExceeded(tooLarge(limits.maxFetchBytes, 'fetches'));
    if (bytes !== null && bytes + packBytes() > limits.maxMirrorBytes)
      onExceeded(tooLarge(limits.maxMirrorBytes, 'keeps'));
    if (isChecking) return;
    isChecking = true;
    void checkSpace(directory, limits)
      .catch(onExceeded)
      .finally(() => {
        isChecking = false;
      });
  };
}

/** Tells if there is something at a path. */
export async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
