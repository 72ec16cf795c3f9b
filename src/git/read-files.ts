import { fetchState } from './clone.ts';
import type { Mirror } from './mirror.ts';
import type { MirrorKey, Mirrors } from './mirrors.ts';
import type { RequestedState } from './refs.ts';
import type { GitRemote } from './remote.ts';

/** A file of a repository at a commit. */
export interface FileAtCommit {
  /** The id of its content. */
  readonly id: string;
  /** Null: it is larger than asked for, or no ordinary file (a link, a directory or a submodule). */
  readonly text: string | null;
  readonly bytes: number;
  readonly isOrdinary: boolean;
}

/** The files of a repository at one commit. */
export interface FilesAtCommit {
  readonly commit: string;
  /**
   * Reads files by their paths, which are no patterns. A missing path has no entry. `maxBytes`: the size up to which a text is read; 0: none
   * is, only the ids are.
   */
  read(paths: readonly string[], maxBytes: number): Promise<ReadonlyMap<string, FileAtCommit>>;
}

/** A requested state of a repository, as {@link CloneRequest} has it. */
export interface StateRequest extends RequestedState {
  /** The branch of the session: if the forge has it, it is the state. */
  readonly branch: string;
  openRemote(): Promise<GitRemote>;
}

/** The files of a repository to open. */
export interface RepositoryFilesRequest {
  readonly repository: MirrorKey;
  /** A commit that the mirror has, or a state that is fetched first. */
  readonly at: string | StateRequest;
  readonly signal: AbortSignal;
}

/**
 * Opens the files of a repository at one commit, without a clone. Null: the repository is empty, or the mirror lacks the commit. Rejects with
 * RepositoryError.
 */
export async function openRepositoryFiles(
  mirrors: Mirrors,
  { repository, at, signal }: RepositoryFilesRequest,
): Promise<FilesAtCommit | null> {
  const mirror = await mirrors.open(repository);
  if (typeof at === 'string') return (await mirror.has(at, signal)) ? filesAt(mirror, at, signal) : null;
  const remote = await at.openRemote();
  try {
    const { head } = await fetchState(mirror, remote, { ...at, signal });
    return head === null ? null : filesAt(mirror, head, signal);
  } finally {
    await remote.close();
  }
}

function filesAt(mirror: Mirror, commit: string, signal: AbortSignal): FilesAtCommit {
  return {
    commit,
    async read(paths, maxBytes) {
      const found = new Map<string, FileAtCommit>();
      if (paths.length === 0) return found;
      const list = ['--literal-pathspecs', 'ls-tree', '-z', '-l', '--full-tree', commit, '--', ...paths];
      const { stdout } = await mirror.git(list, { signal });
      for (const [, mode = '', type, id = '', size = '', path = ''] of stdout.matchAll(entries)) {
        const isOrdinary = type === 'blob' && mode.startsWith('100');
        const bytes = Number(size) || 0;
        const isRead = isOrdinary && bytes <= maxBytes;
        const text = isRead ? (await mirror.git(['cat-file', 'blob', id], { signal })).stdout : null;
        found.set(path, { id, text, bytes, isOrdinary });
      }
      return found;
    },
  };
}

const entries = /(\d+) (\w+) ([0-9a-f]+) +(-|\d+)\t([^\0]+)\0/g;
