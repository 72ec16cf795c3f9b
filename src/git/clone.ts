import { randomBytes } from 'node:crypto';
import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from '../store/delete-tree.ts';
import { checkTree } from './check-tree.ts';
import { checkedGit } from './checked-git.ts';
import { inTime } from './in-time.ts';
import type { Mirror, MirrorGitOptions } from './mirror.ts';
import { clonesIn, type MirrorKey, type Mirrors } from './mirrors.ts';
import type { GitProgress } from './progress.ts';
import { branchOf } from './ref-names.ts';
import { candidatesOf, isObjectId, type RemoteRefs, type RequestedState, readRemoteRefs } from './refs.ts';
import type { GitRemote } from './remote.ts';
import { RepositoryError } from './repository-error.ts';
import { cloneMirror, useSpare } from './spares.ts';

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
  /** The commit that was checked out; null: the repository is empty. */
  readonly head: string | null;
  /** True if the branch existed at the forge. */
  readonly isContinued: boolean;
  /** The directory of the mirror's objects, which the clone needs; null: it needs none. */
  readonly borrowed: string | null;
  /** True if files that were to be kept were deleted. */
  readonly isEmptied?: boolean;
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
  else await checkOut(mirrors, mirror, request, { ...state, head: state.head });
  const { baseCommit, baseRef, defaultBranch, head, isContinued } = state;
  const { originUrl } = request;
  const resting = mirrors.inBackground(mirror.directory, (signal) => fetchRest(mirror, openRemote, signal));
  if (borrowerId !== null && defaultBranch !== null)
    void resting.then(() => mirrors.spares.prepare({ mirror, originUrl, defaultBranch }));
  return { baseCommit, baseRef, defaultBranch, head, isContinued, borrowed };
}

/** Fetches a branch of the forge into the mirror, and reads its commits after `from`. */
export async function readPushedCommits(
  mirrors: Mirrors,
  { repository, openRemote, from, to, ref, signal }: PushedCommitsRequest,
): Promise<PushedCommits> {
  const mirror = await mirrors.open(repository);
  if (!(await mirror.has(to, signal))) {
    const remote = await openRemote();
    try {
      await mirror.fetch(remote, [`+${ref}:${ref}`], { signal });
    } finally {
      await remote.close();
    }
  }
  const isFromKnown = from !== null && (await mirror.has(from, signal));
  const isForced =
    from === null ? false : isFromKnown && branchOf(ref) !== null ? !(await mirror.isAncestor(from, to, signal)) : null;
  // A new branch has the commits that no other branch has.
  const known = isFromKnown ? [`^${from}`] : ['--not', `--exclude=${branchOf(ref) ?? ref}`, '--branches'];
  const args = ['log', '--format=%s', `--max-count=${maxSubjects}`, to, ...known, '--'];
  const { stdout } = await mirror.git(args, { signal });
  return { subjects: stdout.split('\n').filter((line) => line !== ''), isForced };
}

/** The commits of a push. */
export interface PushedCommits {
  /** Newest first, at most 50. */
  readonly subjects: string[];
  /** True if the branch lost commits; null: its commit before the push is unknown here. */
  readonly isForced: boolean | null;
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
export interface PushedCommitsRequest extends PushedRefRequest {
  readonly to: string;
}

const maxSubjects = 50;

/** The state of a repository in its mirror. Its head is the commit to check out. */
export type FetchedState = Omit<Clone, 'borrowed' | 'isEmptied'>;

/** Fetches the requested state of a repository, and its branch, into the mirror. Rejects with RepositoryError. */
export async function fetchState(
  mirror: Mirror,
  remote: GitRemote,
  request: Pick<CloneRequest, 'ref' | 'pullRequest' | 'branch' | 'signal' | 'onProgress'>,
): Promise<FetchedState> {
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
  const commits = await fetchMissing(mirror, remote, { refs, names }, options);
  const commitAt = async (name: string) => commits.get(name) ?? (await commitOf(mirror, name, options));
  const baseCommit =
    base === undefined ? await fetchCommit(mirror, remote, ref ?? '', options) : await commitAt(localName(base));
  if (baseCommit === null) throw noRef(request);
  if (defaultBranch !== null) await mirror.setHead(defaultBranch, signal);
  const baseRef = /^refs\/(?:heads|tags)\/(.+)$/.exec(base ?? '')?.[1] ?? null;
  const head = isContinued ? await commitAt(own) : baseCommit;
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

/** Fetches the refs that the mirror lacks. Returns the commits of refs that it had, by their local names. */
async function fetchMissing(
  mirror: Mirror,
  remote: GitRemote,
  { refs, names }: { readonly refs: RemoteRefs; readonly names: readonly string[] },
  options: MirrorGitOptions,
): Promise<ReadonlyMap<string, string>> {
  if (names.length === 0) return new Map();
  const format = '--format=%(refname) %(objectname) %(objecttype)';
  const { stdout } = await mirror.git(['for-each-ref', format, ...names.map(localName)], options);
  const current = new Map(stdout.split('\n').map((line) => [line.split(' ')[0] ?? '', line.split(' ')] as const));
  const isCurrent = (name: string) => current.get(localName(name))?.[1] === refs.ids.get(name);
  const missing = names.filter((name) => !isCurrent(name));
  const refspecs = missing.map((name) => `+${name}:${localName(name)}`);
  if (missing.length > 0) await mirror.fetch(remote, refspecs, options);
  const commits = names.filter(isCurrent).flatMap((name) => {
    const [, id = '', type] = current.get(localName(name)) ?? [];
    return type === 'commit' ? [[localName(name), id] as const] : [];
  });
  return new Map(commits);
}

function localName(name: string): string {
  return name === 'HEAD' ? 'refs/switchyard/head' : name;
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

/** The refspecs of all branches and tags. */
export const allRefs = ['--prune', '+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*'];

async function fetchRest(mirror: Mirror, openRemote: CloneRequest['openRemote'], signal: AbortSignal): Promise<void> {
  const remote = await openRemote();
  try {
    await mirror.fetch(remote, allRefs, { signal });
  } finally {
    await remote.close();
  }
  await mirror.maintain(signal);
}

async function checkOut(
  mirrors: Mirrors,
  mirror: Mirror,
  request: CloneRequest,
  state: FetchedState & { readonly head: string },
): Promise<void> {
  const { originUrl, branch, borrowerId, signal } = request;
  const checking = checkTree(mirror, state.head, mirrors.limits, signal);
  // Its error counts when it is awaited.
  checking.catch(() => undefined);
  if (borrowerId !== null && (await moveSpare(mirrors, mirror, request, { ...state, checking }))) return;
  await inNewDirectory(mirrors, request, async (made) => {
    const options = optionsOf(mirrors, request);
    await cloneMirror(mirror, { made, originUrl, isBorrowing: borrowerId !== null }, options);
    await checking;
    const checkout = ['checkout', '--progress', '--no-track', '-B', branch, state.head];
    // Patterns of .gitattributes can keep git busy without an end.
    await inTime(mirrors.limits.checkoutMs, signal, (timed) =>
      checkedGit(checkout, { ...options, cwd: made, signal: timed }),
    );
  });
}

function optionsOf({ path, marks: env, limits }: Mirrors, { signal, onProgress }: CloneRequest) {
  return { path, env, signal, maxMemoryBytes: limits.maxMemoryBytes, ...(onProgress && { onProgress }) };
}

// Returns false if there is none, or if it is of no use: then a clone without it succeeds, or says why not.
async function moveSpare(
  mirrors: Mirrors,
  mirror: Mirror,
  request: CloneRequest,
  { head, defaultBranch, checking }: FetchedState & { readonly head: string; readonly checking: Promise<void> },
): Promise<boolean> {
  const spare = mirrors.spares.take(mirror);
  if (spare === null) return false;
  const { originUrl, branch, target, signal } = request;
  try {
    if (spare.defaultBranch !== defaultBranch) throw new Error('The repository has another default branch now.');
    await checking;
    const options = optionsOf(mirrors, request);
    await inTime(mirrors.limits.checkoutMs, signal, (timed) =>
      useSpare(mirror, spare, { originUrl, branch, head }, { ...options, signal: timed }),
    );
    await rename(spare.directory, target);
    return true;
  } catch (error) {
    await removeTree(spare.directory);
    const isTimeout = error instanceof RepositoryError && error.code === 'TIMEOUT';
    if (signal.aborted || isTimeout) throw error;
    return false;
  }
}

async function makeEmpty(mirrors: Mirrors, request: CloneRequest): Promise<void> {
  const { originUrl, branch, signal } = request;
  const { path, marks: env } = mirrors;
  await inNewDirectory(mirrors, request, async (made) => {
    await checkedGit(['init', '-q', `--initial-branch=${branch}`, '.'], { cwd: made, path, env, signal });
    await checkedGit(['remote', 'add', 'origin', originUrl], { cwd: made, path, env, signal });
  });
}

// No git runs at the target: an agent that works beside it could change the configuration meanwhile.
async function inNewDirectory(
  { directory }: Mirrors,
  { target }: CloneRequest,
  fill: (made: string) => Promise<void>,
): Promise<void> {
  const made = join(clonesIn(directory), randomBytes(8).toString('hex'));
  try {
    await mkdir(made, { recursive: true, mode: 0o700 });
    await fill(made);
    await rename(made, target);
  } catch (error) {
    await removeTree(made);
    throw error;
  }
}
