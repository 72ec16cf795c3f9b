import { randomBytes } from 'node:crypto';
import { mkdir, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { removeTree } from '../store/delete-tree.ts';
import { checkTree, type TreeLimits } from './check-tree.ts';
import { checkedGit } from './checked-git.ts';
import type { RunGitOptions } from './run-git.ts';

/** The mirror of a spare clone. */
export interface SpareSource {
  readonly directory: string;
  /** Runs git in it. Rejects with RepositoryError if git fails. */
  git(
    args: readonly string[],
    options: { readonly signal: AbortSignal; onOutput?(chunk: Buffer): void },
  ): Promise<{ readonly stdout: string }>;
  /** A number that changes with each change of its refs. */
  refsVersion(): number;
}

/** A complete clone of a mirror's default branch that no session has used. It borrows the objects of the mirror. */
export interface Spare {
  readonly directory: string;
  readonly originUrl: string;
  /** The default branch at the time of its creation, on which it is. */
  readonly defaultBranch: string;
  /** The version of the mirror's refs that it has; see {@link SpareSource.refsVersion}. */
  readonly refsVersion: number;
}

/** A mirror to make a spare clone of. */
export interface SpareRequest {
  readonly mirror: SpareSource;
  readonly originUrl: string;
  readonly defaultBranch: string;
}

/** Limits of spare clones. */
export interface SpareLimits extends TreeLimits {
  /** The maximum number of spare clones; 0: none is made. The oldest one is removed for a new one. */
  readonly maxSpares: number;
  /** The maximum duration of making one, in ms. After a failure, a mirror gets no other attempt for ten minutes. */
  readonly maxSpareWorkMs: number;
  /** The time after which an unused one is removed, in ms. */
  readonly spareMs: number;
  readonly maxMemoryBytes: number;
}

/** Spare clones, at most one for each mirror: a session takes one instead of writing all files itself. */
export interface Spares {
  /** Returns the spare clone of a mirror, which belongs to the caller from then on; null: there is none. */
  take(mirror: SpareSource): Spare | null;
  /** Makes a spare clone, or brings the existing one up to date, in the background. One at a time is made. */
  prepare(request: SpareRequest): void;
  /** Resolves when no work is under way. */
  settled(): Promise<void>;
  /** Ends the work and removes all spare clones. Never rejects. */
  close(): Promise<void>;
}

/** Options of {@link createSpares}. */
export interface SparesOptions {
  /** The directory of clones that are being made. */
  readonly directory: string;
  /** The PATH in which git is searched. */
  readonly path: string;
  /** Variables of git. */
  readonly env: Readonly<Record<string, string>>;
  readonly limits: SpareLimits;
}

const retryMs = 600_000;

/** Creates spare clones in a directory, at first none. */
export function createSpares({ directory, path, env, limits }: SparesOptions): Spares {
  const spares = new Map<string, Spare>();
  const expiries = new Map<string, NodeJS.Timeout>();
  /** The mirrors whose last attempt failed, and the ends of their waits by the monotonic clock. */
  const failed = new Map<string, number>();
  const waiting = new Set<string>();
  const closing = new AbortController();
  let work: Promise<void> = Promise.resolve();

  const takeOut = (key: string): Spare | null => {
    const spare = spares.get(key) ?? null;
    spares.delete(key);
    clearTimeout(expiries.get(key));
    expiries.delete(key);
    return spare;
  };
  const discard = async (key: string) => {
    const spare = takeOut(key);
    if (spare !== null) await removeTree(spare.directory).catch(() => undefined);
  };
  // A spare clone is on the branch that was the default one.
  const takeIfUsable = async (key: string, defaultBranch: string) => {
    if (spares.get(key)?.defaultBranch !== defaultBranch) await discard(key);
    return takeOut(key);
  };
  const keep = async (key: string, spare: Spare) => {
    await discard(key);
    spares.set(key, spare);
    expiries.set(key, setTimeout(() => void discard(key), limits.spareMs).unref());
    for (const [oldest] of spares) if (spares.size > limits.maxSpares) await discard(oldest);
  };
  const prepareOne = async (request: SpareRequest) => {
    const { mirror, defaultBranch } = request;
    const key = mirror.directory;
    const existing = await takeIfUsable(key, defaultBranch);
    const made = existing?.directory ?? join(directory, randomBytes(8).toString('hex'));
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(limits.maxSpareWorkMs)]);
    const options = { path, env, signal, maxMemoryBytes: limits.maxMemoryBytes, isBackground: true };
    try {
      signal.throwIfAborted();
      // Read before the refs: a fetch meanwhile makes it stale.
      const refsVersion = mirror.refsVersion();
      if (existing?.refsVersion === refsVersion) return await keep(key, existing);
      const { bavail, bsize } = await statfs(mirror.directory);
      // Sessions need the space more.
      if (bavail * bsize < 2 * limits.minFreeBytes) throw new Error('The disk has little space.');
      const head = `refs/heads/${defaultBranch}`;
      await checkTree(mirror, await idOf(mirror, head, signal), limits, signal);
      if (existing === null) await makeSpare(request, made, options);
      else await updateSpare(mirror, existing, head, options);
      await keep(key, { directory: made, originUrl: request.originUrl, defaultBranch, refsVersion });
    } catch {
      failed.set(key, performance.now() + retryMs);
      await removeTree(made).catch(() => undefined);
    }
  };
  return {
    take: (mirror) => takeOut(mirror.directory),
    prepare(request) {
      const key = request.mirror.directory;
      const now = performance.now();
      for (const [each, until] of failed) if (until < now) failed.delete(each);
      if (limits.maxSpares === 0 || closing.signal.aborted || waiting.has(key) || failed.has(key)) return;
      if (spares.get(key)?.refsVersion === request.mirror.refsVersion()) return;
      waiting.add(key);
      work = work
        .then(() => {
          waiting.delete(key);
          return prepareOne(request);
        })
        .catch(() => undefined);
    },
    settled: () => work,
    async close() {
      closing.abort();
      await work;
      for (const key of [...spares.keys()]) await discard(key);
    },
  };
}

type WorkOptions = Omit<RunGitOptions, 'cwd'>;

async function idOf(mirror: SpareSource, ref: string, signal: AbortSignal): Promise<string> {
  const { stdout } = await mirror.git(['rev-parse', '--verify', '--end-of-options', `${ref}^{commit}`], { signal });
  return stdout.trim();
}

async function makeSpare({ mirror, originUrl }: SpareRequest, made: string, options: WorkOptions): Promise<void> {
  await mkdir(made, { recursive: true, mode: 0o700 });
  await cloneMirror(mirror, { made, originUrl, isBorrowing: true }, options);
  await checkedGit(['reset', '-q', '--hard'], { ...options, cwd: made });
}

/** Clones a mirror into a directory, without a checkout. */
export async function cloneMirror(
  { directory }: SpareSource,
  {
    made,
    originUrl,
    isBorrowing,
  }: { readonly made: string; readonly originUrl: string; readonly isBorrowing: boolean },
  options: WorkOptions,
): Promise<void> {
  const sharing = isBorrowing ? '--shared' : '--no-hardlinks';
  const args = ['clone', '-q', '--no-checkout', sharing, '-c', 'push.autoSetupRemote=true', directory, made];
  await checkedGit(args, { ...options, cwd: dirname(made), protocol: 'file' });
  await checkedGit(['config', 'remote.origin.url', originUrl], { ...options, cwd: made });
}

async function updateSpare(mirror: SpareSource, spare: Spare, head: string, options: WorkOptions): Promise<void> {
  await fetchFromMirror(mirror, spare, options);
  await checkedGit(['reset', '-q', '--hard', remoteNameOf(head)], { ...options, cwd: spare.directory });
}

function remoteNameOf(head: string): string {
  return head.replace('refs/heads/', 'refs/remotes/origin/');
}

/** Brings the remote branches and the tags of a spare clone to the state of its mirror, without any request to the forge. */
async function fetchFromMirror(mirror: SpareSource, { directory }: Spare, options: WorkOptions): Promise<void> {
  const refspecs = ['+refs/heads/*:refs/remotes/origin/*', '+refs/tags/*:refs/tags/*'];
  const args = ['fetch', '-q', '--force', '--prune', '--no-write-fetch-head', mirror.directory, ...refspecs];
  await checkedGit(args, { ...options, cwd: directory, protocol: 'file' });
}

/** The state that a spare clone gets for its session. */
export interface SpareUse {
  readonly originUrl: string;
  readonly branch: string;
  /** The commit to check out. */
  readonly head: string;
}

/**
 * Turns a spare clone into one that was made for a session: refs, branch and files are the same. Rejects with
 * RepositoryError; the spare clone is useless then.
 */
export async function useSpare(mirror: SpareSource, spare: Spare, use: SpareUse, options: WorkOptions): Promise<void> {
  const { directory, defaultBranch } = spare;
  const inSpare = { ...options, cwd: directory };
  const isStale = spare.refsVersion !== mirror.refsVersion();
  if (isStale) await fetchFromMirror(mirror, spare, options);
  if (spare.originUrl !== use.originUrl) await checkedGit(['config', 'remote.origin.url', use.originUrl], inSpare);
  await checkedGit(['checkout', '--progress', '--no-track', '-B', use.branch, use.head], inSpare);
  const head = `refs/heads/${defaultBranch}`;
  if (isStale && use.branch !== defaultBranch) await checkedGit(['update-ref', head, remoteNameOf(head)], inSpare);
}
