import { createHash, randomBytes } from 'node:crypto';
import { lstat, mkdir, readdir, rename, stat, statfs, unlink, utimes, writeFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { removeTree } from '../store/delete-tree.ts';
import { inGigabytes, type TreeLimits } from './check-tree.ts';
import { diskFull, errorOf } from './git-errors.ts';
import { createLocks, type Locks } from './locks.ts';
import type { GitProgress } from './progress.ts';
import { RepositoryError } from './repository-error.ts';
import { type GitOutcome, runGit } from './run-git.ts';

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
export interface MirrorLimits extends TreeLimits {
  /** The maximum number of bytes that one fetch may receive. */
  readonly maxFetchBytes: number;
  /** The maximum duration of one git command. */
  readonly commandMs: number;
  /** Address space of one git command, in bytes. */
  readonly maxMemoryBytes: number;
  /** The time without use after which a mirror without borrowers is deleted. */
  readonly unusedMs: number;
}

/** The mirrors of a directory, which belongs to this process alone. */
export interface Mirrors {
  readonly directory: string;
  readonly limits: MirrorLimits;
  /** The PATH in which git is searched. */
  readonly path: string;
  /** Finds or creates the mirror of a repository. */
  open(key: MirrorKey): Promise<Mirror>;
  /**
   * Runs work in the background, unless work with this name has begun within five minutes. {@link Mirrors.close} ends
   * it. Errors are ignored: later work does the same.
   */
  inBackground(name: string, work: (signal: AbortSignal) => Promise<unknown>): void;
  /**
   * Deletes mirrors that nobody has used for a long time, and files that a crash left. A mirror is kept while
   * `isBorrowing` is true for one of its borrowers. Returns the number of deleted mirrors.
   */
  sweep(now: number, isBorrowing: (borrowerId: string) => Promise<boolean>): Promise<number>;
  /** Ends the work in the background. Never rejects. */
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
  /** Fetches refs from the remote. One fetch at a time runs in a mirror. */
  fetch(remote: GitRemote, refspecs: readonly string[], options: MirrorGitOptions): Promise<void>;
  /** Records that a borrower's clone uses its objects. */
  lend(borrowerId: string): Promise<void>;
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
  minFreeBytes: gibibyte,
  maxTreeEntries: 1_000_000,
  maxTreeBytes: 16 * gibibyte,
  commandMs: 30 * 60_000,
  maxMemoryBytes: Math.min(8 * gibibyte, Math.max(gibibyte, totalmem() / 2)),
  unusedMs: 30 * 86_400_000,
};

/** Opens the mirrors in a directory, which is created with the first of them. Only one process may use it. */
export function openMirrors(directory: string, path: string, overrides: Partial<MirrorLimits> = {}): Mirrors {
  const limits = { ...defaultLimits, ...overrides };
  const locks = createLocks();
  const closing = new AbortController();
  const background = new Set<Promise<unknown>>();
  const begun = new Map<string, number>();
  const create = async (target: string, { host, path: name }: MirrorKey) => {
    const made = join(dirname(target), `.new-${randomBytes(8).toString('hex')}`);
    await mkdir(made, { recursive: true, mode: 0o700 });
    await checkedGit(['init', '-q', '--bare', '.'], { cwd: made, path, signal: closing.signal });
    await mkdir(join(made, 'borrowers'), { mode: 0o700 });
    await writeFile(join(made, 'description'), `${host}/${name}\n`);
    // A complete mirror appears at once, or none.
    await rename(made, target);
  };
  return {
    directory,
    limits,
    path,
    async open(key) {
      const found = pathOf(directory, key);
      await locks.run(found, async () => {
        if (!(await isThere(found))) await create(found, key);
        const now = new Date();
        await utimes(join(found, 'description'), now, now);
      });
      return mirrorAt(found, path, limits, locks.run);
    },
    inBackground(name, work) {
      const now = performance.now();
      for (const [each, at] of begun) if (now - at > againMs) begun.delete(each);
      if (closing.signal.aborted || begun.has(name)) return;
      begun.set(name, now);
      const running: Promise<unknown> = work(closing.signal).catch(() => undefined);
      background.add(running);
      void running.then(() => background.delete(running));
    },
    async sweep(now, isBorrowing) {
      let deleted = 0;
      for (const owner of await namesIn(directory)) {
        for (const name of await namesIn(join(directory, owner))) {
          const found = join(directory, owner, name);
          await locks.run(found, async () => {
            if (await isUsed(found, now, limits.unusedMs, isBorrowing)) return;
            await removeTree(found);
            deleted += 1;
          });
        }
      }
      return deleted;
    },
    async close() {
      closing.abort();
      await Promise.all(background);
    },
  };
}

function pathOf(directory: string, { ownerId, host, path }: MirrorKey): string {
  if (!/^[\w-]{1,100}$/.test(ownerId)) throw new Error('The owner of a mirror has no valid id.');
  // Forges ignore case.
  const name = createHash('sha256').update(`${host}/${path}`.toLowerCase()).digest('hex').slice(0, 40);
  return join(directory, ownerId, `${name}.git`);
}

function mirrorAt(directory: string, path: string, limits: MirrorLimits, lock: Locks['run']): Mirror {
  const git = async (args: readonly string[], { signal, remote, onProgress, onOutput }: MirrorGitOptions) => {
    const timeout = AbortSignal.timeout(limits.commandMs);
    const stop = new AbortController();
    let exceeded: RepositoryError | null = null;
    const watch = watchFetch(directory, limits, (error) => {
      exceeded ??= error;
      stop.abort();
    });
    const options = {
      cwd: directory,
      path,
      maxMemoryBytes: limits.maxMemoryBytes,
      signal: AbortSignal.any([signal, timeout, stop.signal]),
      ...(onOutput && { onOutput }),
      ...(remote && { env: remote.env, protocol: 'http' as const }),
      onProgress: (progress: GitProgress) => {
        watch(progress);
        onProgress?.(progress);
      },
    };
    try {
      const outcome = await checkedGit(args, options);
      if (exceeded !== null) throw exceeded;
      return outcome;
    } catch (error) {
      if (exceeded !== null) throw exceeded;
      throw timeout.aborted && !signal.aborted ? timedOut(limits) : error;
    }
  };
  return {
    directory,
    objects: join(directory, 'objects'),
    git,
    async has(id, signal) {
      const { code } = await runGit(['cat-file', '-e', `${id}^{commit}`], { cwd: directory, path, signal });
      return code === 0;
    },
    async isAncestor(id, of, signal) {
      const args = ['merge-base', '--is-ancestor', id, of];
      const { code } = await runGit(args, { cwd: directory, path, signal });
      return code === 0;
    },
    async fetch(remote, refspecs, options) {
      await checkSpace(directory, limits);
      const args = ['fetch', '--progress', '--force', '--no-tags', '--no-write-fetch-head', remote.url, ...refspecs];
      const run = () => git(args, { ...options, remote });
      await lock(directory, async () => {
        await run().catch(async (error: unknown) => {
          // Only a git that was killed leaves its lock: the directory belongs to this process, and this fetch is alone.
          const left = /Unable to create '([^']+\.lock)': File exists/.exec((error as Error).message)?.[1];
          if (!left?.startsWith(directory)) throw error;
          await unlink(left);
          await run();
        });
      });
    },
    async lend(borrowerId) {
      if (!/^[\w-]{1,100}$/.test(borrowerId)) throw new Error('The borrower of a mirror has no valid id.');
      await writeFile(join(directory, 'borrowers', borrowerId), '');
    },
  };
}

/** Runs git, and rejects with RepositoryError if it fails. */
export async function checkedGit(args: readonly string[], options: Parameters<typeof runGit>[1]): Promise<GitOutcome> {
  const outcome = await runGit(args, options);
  if (outcome.code !== 0) throw errorOf(outcome);
  return outcome;
}

function timedOut({ commandMs }: MirrorLimits): RepositoryError {
  return new RepositoryError('TIMEOUT', `It took more than ${Math.round(commandMs / 60_000)} minutes.`);
}

async function checkSpace(directory: string, { minFreeBytes }: MirrorLimits): Promise<void> {
  const { bavail, bsize } = await statfs(directory);
  if (bavail * bsize < minFreeBytes) throw diskFull();
}

/** Ends a fetch that receives too much, or that fills the disk. */
function watchFetch(directory: string, limits: MirrorLimits, onExceeded: (error: RepositoryError) => void) {
  let isChecking = false;
  return ({ bytes }: GitProgress) => {
    if (bytes !== null && bytes > limits.maxFetchBytes) {
      const gb = inGigabytes(limits.maxFetchBytes);
      onExceeded(new RepositoryError('TOO_LARGE', `It is larger than ${gb} GB, the most that a worker fetches.`));
    }
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

async function namesIn(directory: string): Promise<string[]> {
  return readdir(directory).catch(() => []);
}

const leftMs = 86_400_000;

async function isUsed(
  path: string,
  now: number,
  unusedMs: number,
  isBorrowing: (borrowerId: string) => Promise<boolean>,
): Promise<boolean> {
  const { mtimeMs } = await stat(join(path, 'description')).catch(() => stat(path));
  // A mirror, or a clone, that was never completed.
  if (!path.endsWith('.git')) return mtimeMs > now - leftMs;
  let isBorrowed = false;
  for (const id of await namesIn(join(path, 'borrowers'))) {
    if (await isBorrowing(id)) isBorrowed = true;
    else await unlink(join(path, 'borrowers', id));
  }
  return isBorrowed || mtimeMs > now - unusedMs;
}
