import { randomBytes } from 'node:crypto';
import { mkdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { removeTree } from '../store/delete-tree.ts';
import { checkTree } from './check-tree.ts';
import { inTime } from './in-time.ts';
import {
  checkedGit,
  type GitRemote,
  type Mirror,
  type MirrorGitOptions,
  type MirrorKey,
  type Mirrors,
} from './mirrors.ts';
import type { GitProgress } from './progress.ts';
import { branchOf } from './ref-names.ts';
import { candidatesOf, isObjectId, type RemoteRefs, type RequestedState, readRemoteRefs } from './refs.ts';
import { RepositoryError } from './repository-error.ts';

/** A clone to make. */
export interface CloneRequest extends RequestedState {
  readonly repository: MirrorKey;
  /** The address that the clone has as `origin`. */
  readonly originUrl: string;
  /** Opens the way to the forge; called for the first fetch, and for the fetch of the rest in the background. */
  openRemote(): Promise<GitRemote>;
  /** The branch to work on: that of the forge if it exists there, and otherwise a new one at the requested state. */
  readonly branch: string;
  /** The path of the clone. Its parent exists; it must be missing or an empty directory. */
  readonly target: string;
  /** Names the user of the mirror's objects; see {@link Mirror.lend}. Null: the objects are copied. */
  readonly borrowerId: string | null;
  readonly signal: AbortSignal;
  onProgress?(progress: GitProgress): void;
}

/** A finished clone. */
export interface Clone {
  /** The commit of the requested state; null: the repository is empty. */
  readonly baseCommit: string | null;
  /** The requested branch or tag, or the default branch; null: a commit, a pull request or none. */
  readonly baseRef: string | null;
  readonly defaultBranch: string | null;
  /** True if the branch existed at the forge. */
  readonly isContinued: boolean;
  /** The directory of the mirror's objects, which the clone needs; null: it needs none. */
  readonly borrowed: string | null;
}

/**
 * Clones a repository through its mirror. Nothing of the repository is executed: no hook, filter or submodule. The clone
 * appears completely at its path, or not at all. Rejects with RepositoryError.
 */
export async function cloneRepository(mirrors: Mirrors, request: CloneRequest): Promise<Clone> {
  const { repository, borrowerId, openRemote } = request;
  const mirror = await mirrors.open(repository);
  const borrowed = borrowerId === null ? null : mirror.objects;
  if (borrowerId !== null) await mirror.lend(borrowerId);
  const remote = await openRemote();
  let state: FetchedState;
  try {
    state = await fetchState(mirror, remote, request);
  } finally {
    await remote.close();
  }
  if (state.head === null) await makeEmpty(mirrors, request);
  else await checkOut(mirrors, mirror, request, state.head);
  mirrors.inBackground(mirror.directory, (signal) => fetchRest(mirror, openRemote, signal));
  const { baseCommit, baseRef, defaultBranch, isContinued } = state;
  return { baseCommit, baseRef, defaultBranch, isContinued, borrowed };
}

/** Fetches a branch of the forge into the mirror, and returns the subjects of its commits after `from`, newest first. */
export async function readSubjects(
  mirrors: Mirrors,
  { repository, openRemote, from, to, ref, signal }: SubjectsRequest,
): Promise<string[]> {
  const mirror = await mirrors.open(repository);
  if (!(await mirror.has(to, signal))) {
    const remote = await openRemote();
    try {
      await mirror.fetch(remote, [`+${ref}:${ref}`], { signal });
    } finally {
      await remote.close();
    }
  }
  // A new branch has the commits that no other branch has.
  const known =
    from !== null && (await mirror.has(from, signal))
      ? [`^${from}`]
      : ['--not', `--exclude=${branchOf(ref) ?? ref}`, '--branches'];
  const args = ['log', '--format=%s', `--max-count=${maxSubjects}`, to, ...known, '--'];
  const { stdout } = await mirror.git(args, { signal });
  return stdout.split('\n').filter((line) => line !== '');
}

/**
 * Asks the forge for a ref after a push of which no answer came. Fetches the ref if commits follow the pushed one. Rejects
 * with RepositoryError.
 */
export async function readPushedRef(
  mirrors: Mirrors,
  { repository, openRemote, from, to, ref, signal }: PushedRefRequest,
): Promise<RefAfterPush> {
  const mirror = await mirrors.open(repository);
  const remote = await openRemote();
  try {
    const { stdout } = await mirror.git(['ls-remote', remote.url, ref], { signal, remote });
    const id = readRemoteRefs(stdout).ids.get(ref) ?? null;
    if (id === to) return { id, isPushed: true };
    if (id === null || to === null || id === from || branchOf(ref) === null) return { id, isPushed: false };
    if (!(await mirror.has(id, signal))) await mirror.fetch(remote, [`+${ref}:${ref}`], { signal });
    const isFollowed = await mirror.isAncestor(to, id, signal);
    // A push back to an earlier commit: the branch has this commit with or without the push.
    const isEarlier =
      from !== null && (await mirror.isAncestor(to, from, signal)) && (await mirror.isAncestor(from, id, signal));
    return { id, isPushed: isFollowed && !isEarlier };
  } finally {
    await remote.close();
  }
}

/** A ref at the forge after a push. */
export interface RefAfterPush {
  /** The object id; null: the ref does not exist. */
  readonly id: string | null;
  /** True if the ref is at the pushed object, or at a commit that follows it. */
  readonly isPushed: boolean;
}

/** A push of one ref. */
export interface PushedRefRequest {
  readonly repository: MirrorKey;
  openRemote(): Promise<GitRemote>;
  /** Object ids; null: the ref is new. */
  readonly from: string | null;
  /** Null: the ref was deleted. */
  readonly to: string | null;
  /** The full name of the ref. */
  readonly ref: string;
  readonly signal: AbortSignal;
}

/** The commits of a push to a branch. */
export interface SubjectsRequest extends PushedRefRequest {
  readonly to: string;
}

const maxSubjects = 50;

interface FetchedState extends Omit<Clone, 'borrowed'> {
  /** The commit to check out; null: there is none. */
  readonly head: string | null;
}

async function fetchState(mirror: Mirror, remote: GitRemote, request: CloneRequest): Promise<FetchedState> {
  const { ref, pullRequest, branch, signal, onProgress } = request;
  const options: MirrorGitOptions = { signal, ...(onProgress && { onProgress }) };
  const candidates = candidatesOf(request);
  const own = `refs/heads/${branch}`;
  const list = ['ls-remote', '--symref', remote.url, 'HEAD', ...candidates, own];
  const { stdout } = await mirror.git(list, { ...options, remote });
  const refs = readRemoteRefs(stdout);
  const { defaultBranch } = refs;
  const isDefault = ref === null && pullRequest === null;
  const base = isDefault ? defaultOf(refs) : candidates.find((each) => refs.ids.has(each));
  const isContinued = refs.ids.has(own);
  if (base === undefined && isDefault)
    return { baseCommit: null, baseRef: null, defaultBranch, isContinued: false, head: null };
  const names = [...(base === undefined ? [] : [base]), ...(isContinued ? [own] : [])];
  await fetchMissing(mirror, remote, { refs, names }, options);
  const baseCommit =
    base === undefined
      ? await fetchCommit(mirror, remote, ref ?? '', options)
      : await commitOf(mirror, localName(base), options);
  if (baseCommit === null) throw noRef(request);
  if (defaultBranch !== null) await mirror.setHead(defaultBranch, signal);
  const baseRef = /^refs\/(?:heads|tags)\/(.+)$/.exec(base ?? '')?.[1] ?? null;
  const head = isContinued ? await commitOf(mirror, own, options) : baseCommit;
  return { baseCommit, baseRef, defaultBranch, isContinued, head };
}

function defaultOf({ ids, defaultBranch }: RemoteRefs): string | undefined {
  if (!ids.has('HEAD')) return undefined;
  return defaultBranch === null ? 'HEAD' : `refs/heads/${defaultBranch}`;
}

function noRef({ ref, pullRequest }: RequestedState): RepositoryError {
  const what = pullRequest === null ? `branch, tag or commit "${ref}"` : `pull request ${pullRequest}`;
  return new RepositoryError('NO_REF', `It has no ${what}.`);
}

async function fetchMissing(
  mirror: Mirror,
  remote: GitRemote,
  { refs, names }: { readonly refs: RemoteRefs; readonly names: readonly string[] },
  options: MirrorGitOptions,
): Promise<void> {
  const current = await readRefs(mirror, names.map(localName), options);
  const missing = names.filter((name) => current.get(localName(name)) !== refs.ids.get(name));
  if (missing.length === 0) return;
  const refspecs = missing.map((name) => `+${name}:${localName(name)}`);
  await mirror.fetch(remote, refspecs, options);
}

function localName(name: string): string {
  return name === 'HEAD' ? 'refs/switchyard/head' : name;
}

async function readRefs(
  mirror: Mirror,
  names: readonly string[],
  options: MirrorGitOptions,
): Promise<Map<string, string>> {
  const { stdout } = await mirror.git(['for-each-ref', '--format=%(refname) %(objectname)', ...names], options);
  return new Map(stdout.split('\n').map((line) => line.split(' ') as [string, string]));
}

// Null: there is none, or it is no commit.
async function commitOf(mirror: Mirror, name: string, { signal }: MirrorGitOptions): Promise<string | null> {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`];
  const found = await mirror.git(args, { signal }).catch((error: unknown) => {
    if (signal.aborted) throw error;
    return null;
  });
  return found?.stdout.trim() || null;
}

// Forges need not serve a commit that is no tip: all branches are fetched.
async function fetchCommit(
  mirror: Mirror,
  remote: GitRemote,
  text: string,
  options: MirrorGitOptions,
): Promise<string | null> {
  if (!isObjectId(text)) return null;
  const found = await commitOf(mirror, text, options);
  if (found !== null) return found;
  await mirror.fetch(remote, allRefs, options);
  return commitOf(mirror, text, options);
}

const allRefs = ['--prune', '+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*'];

async function fetchRest(mirror: Mirror, openRemote: CloneRequest['openRemote'], signal: AbortSignal): Promise<void> {
  const remote = await openRemote();
  try {
    await mirror.fetch(remote, allRefs, { signal });
  } finally {
    await remote.close();
  }
  await mirror.maintain(signal);
}

async function checkOut(mirrors: Mirrors, mirror: Mirror, request: CloneRequest, head: string): Promise<void> {
  const { originUrl, branch, borrowerId, signal, onProgress } = request;
  const { path } = mirrors;
  await inNewDirectory(mirrors, request, async (made) => {
    const sharing = borrowerId === null ? '--no-hardlinks' : '--shared';
    const checking = checkTree(mirror, head, mirrors.limits, signal);
    // Its error counts when the clone has ended.
    checking.catch(() => undefined);
    const clone = ['clone', '-q', '--no-checkout', sharing, '-c', 'push.autoSetupRemote=true', mirror.directory, made];
    await checkedGit(clone, { cwd: dirname(made), path, signal, protocol: 'file' });
    await checkedGit(['config', 'remote.origin.url', originUrl], { cwd: made, path, signal });
    await checking;
    const { maxMemoryBytes, checkoutMs } = mirrors.limits;
    const options = { cwd: made, path, maxMemoryBytes, ...(onProgress && { onProgress }) };
    const checkout = ['checkout', '--progress', '--no-track', '-B', branch, head];
    // Patterns of .gitattributes can keep git busy without an end.
    await inTime(checkoutMs, signal, (timed) => checkedGit(checkout, { ...options, signal: timed }));
  });
}

async function makeEmpty(mirrors: Mirrors, request: CloneRequest): Promise<void> {
  const { originUrl, branch, signal } = request;
  const { path } = mirrors;
  await inNewDirectory(mirrors, request, async (made) => {
    await checkedGit(['init', '-q', `--initial-branch=${branch}`, '.'], { cwd: made, path, signal });
    await checkedGit(['remote', 'add', 'origin', originUrl], { cwd: made, path, signal });
  });
}

// No git runs at the target: an agent that works beside it could change the configuration meanwhile.
async function inNewDirectory(
  { directory }: Mirrors,
  { target }: CloneRequest,
  fill: (made: string) => Promise<void>,
): Promise<void> {
  const made = join(directory, '.clones', randomBytes(8).toString('hex'));
  try {
    await mkdir(made, { recursive: true, mode: 0o700 });
    await fill(made);
    await rename(made, target);
  } catch (error) {
    await removeTree(made);
    throw error;
  }
}
