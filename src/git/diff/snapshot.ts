import { lstat, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { RepositoryError } from '../repository-error.ts';
import { bundleCommits } from './bundle.ts';
import { compareTrees, patchArguments, unreadChange } from './compare.ts';
import { type ChangeLimits, defaultChangeLimits, type RepositoryChanges } from './file-change.ts';
import { readFiles, type UnreadFiles } from './read-files.ts';
import { readHead } from './read-inside.ts';
import { type Confine, openScratch, type Scratch } from './scratch.ts';

/** The clone to compare with its base. */
export interface SnapshotRequest {
  /** The absolute path of the workspace. No file outside of it is read. */
  readonly workspace: string;
  /** The path of the clone in the workspace, in which no part may be a link; null: the workspace itself. */
  readonly directory: string | null;
  /** The objects of the mirror, which has the base. Agents cannot write to it. */
  readonly objects: string;
  /** The complete id of the commit that the work began at; null: the repository was empty. */
  readonly base: string | null;
  /** A directory of the service for temporary files, outside of all workspaces. */
  readonly temporary: string;
  /** The PATH in which git is searched. */
  readonly path: string;
  /**
   * Confines git to the workspace and the mirror. Without it, an agent that exchanges directories for links during the
   * comparison can lead git out of the workspace; null: this machine has no such program.
   */
  readonly confine: Confine | null;
  readonly signal: AbortSignal;
  readonly limits?: Partial<ChangeLimits>;
  /** An earlier state of the clone to compare with too; null or missing: none. */
  readonly since?: EarlierState | null;
}

/** The state of a clone at an earlier time, by its difference from the base. */
export interface EarlierState {
  /** The complete patch of {@link Snapshot.patch}. */
  readonly patch: Buffer;
  /** The files that were not read: paths with sizes. */
  readonly unread: readonly (readonly [path: string, size: number | null])[];
}

/** The files of a clone at one time. Later changes of the clone do not change it. */
export interface Snapshot {
  changes(): Promise<RepositoryChanges>;
  /** The difference between the earlier state and this one; null: no earlier state was given, or it cannot be restored. */
  changesSince(): Promise<RepositoryChanges | null>;
  /**
   * Streams the patch for `git apply`, with binary files; files beyond the limits are missing. `isSince`: from the
   * earlier state, if there is one.
   */
  patch(isSince?: boolean): Readable;
  /** Streams a `git bundle` of the commits after the base, under the name of a branch; null: there are none. */
  bundle(branch: string): Promise<Readable | null>;
  /** Ends its streams and deletes its files. */
  close(): Promise<void>;
}

const maxStreamBytes = 512 * 1_048_576;

/**
 * Reads the files of a clone, with new files that are not ignored. Nothing that the clone or its repository configures
 * is executed: git works in a repository of its own and never opens that of the clone. Rejects with RepositoryError. The
 * caller closes the snapshot; its time limit holds until then.
 */
export async function openSnapshot(request: SnapshotRequest): Promise<Snapshot> {
  const { directory, objects, base, temporary, path, confine, signal } = request;
  const limits = { ...defaultChangeLimits, ...request.limits };
  if (base !== null && !/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(base)) throw new Error(`${base} is no complete id.`);
  const workspace = await realpath(request.workspace);
  const clone = directory === null ? workspace : join(workspace, directory);
  const isThere = (await lstat(clone).catch(() => null))?.isDirectory() === true;
  if (!isThere || (await realpath(clone)) !== clone || !`${clone}/`.startsWith(`${workspace}/`))
    throw new RepositoryError('REFUSED_CONTENT', 'The directory of the repository is missing.');
  const options = {
    parent: await realpath(temporary),
    clone,
    readable: [workspace, objects],
    path,
    confine,
    limits,
    signal,
  };
  const scratch = await openScratch(options, base?.length === 64 ? 'sha256' : 'sha1');
  try {
    await writeFile(join(scratch.gitDir, 'objects', 'info', 'alternates'), `${objects}\n`);
    // Without a base, the index is empty.
    const from = base ?? (await writeTree(scratch));
    const since = request.since ?? null;
    const earlier = since === null ? null : await restoreTree(scratch, base, since.patch);
    if (base !== null) await scratch.git(['read-tree', base]);
    const unread = await readFiles(scratch, clone, limits);
    const to = await writeTree(scratch);
    const head = await readHead(clone);
    return {
      changes: async () => summarize(head, await compareTrees(scratch, { from, to }, limits), unread),
      async changesSince() {
        if (since === null || earlier === null) return null;
        const files = await compareTrees(scratch, { from: earlier, to }, limits);
        return summarize(head, ...withoutUnread(files, unread, since));
      },
      patch: (isSince = false) =>
        scratch.stream(patchArguments((isSince ? earlier : null) ?? from, to), maxStreamBytes),
      bundle: (branch) => bundleCommits(scratch, { clone, objects, base, branch, maxBytes: maxStreamBytes }),
      close: scratch.close,
    };
  } catch (error) {
    await scratch.close();
    throw error;
  }
}

// Null: the patch does not apply. The index is empty afterwards.
async function restoreTree(scratch: Scratch, base: string | null, patch: Buffer): Promise<string | null> {
  try {
    if (base !== null) await scratch.git(['read-tree', base]);
    const input = patch.toString('latin1');
    if (patch.length > 0) await scratch.git(['apply', '--cached', '--whitespace=nowarn', '-'], { input });
    return await writeTree(scratch);
  } catch (error) {
    if (error instanceof RepositoryError && error.code === 'REFUSED_CONTENT') return null;
    throw error;
  } finally {
    await scratch.git(['read-tree', '--empty']);
  }
}

// A file that is not read has its version of the base in both trees, or in one of them.
function withoutUnread(
  files: RepositoryChanges['files'],
  unread: UnreadFiles,
  since: EarlierState,
): [RepositoryChanges['files'], UnreadFiles] {
  const names = new Set(unread.files.map((file) => unreadChange(file).path));
  const earlier = new Map(since.unread);
  const changed = unread.files.filter((file) => {
    const { path, size } = unreadChange(file);
    return !earlier.has(path) || earlier.get(path) !== size;
  });
  const count = unread.count - (unread.files.length - changed.length);
  return [files.filter(({ path }) => !names.has(path)), { ...unread, files: changed, count }];
}

async function writeTree(scratch: Scratch): Promise<string> {
  return (await scratch.git(['write-tree'])).trim();
}

function summarize(head: string | null, read: RepositoryChanges['files'], unread: UnreadFiles): RepositoryChanges {
  const sum = (count: (file: RepositoryChanges['files'][number]) => number | null) =>
    read.reduce((total, file) => total + (count(file) ?? 0), 0);
  return {
    head,
    files: [...read, ...unread.files.map(unreadChange)],
    fileCount: read.length + unread.count,
    additions: sum(({ additions }) => additions),
    deletions: sum(({ deletions }) => deletions),
    isTruncated: unread.count > 0 || unread.isCut || read.some(({ hunks, isBinary }) => hunks === null && !isBinary),
  };
}
