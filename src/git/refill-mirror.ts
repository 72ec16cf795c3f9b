import { allRefs, type CloneRequest, fetchState } from './clone.ts';
import type { Mirror } from './mirror.ts';
import { RepositoryError } from './repository-error.ts';

/** Maximum number of objects that are fetched by their ids. */
const maxIds = 50;

/** The state of a repository that a clone was made of, and ids that it needs. */
export interface RefillRequest
  extends Pick<CloneRequest, 'openRemote' | 'ref' | 'pullRequest' | 'branch' | 'signal' | 'onProgress'> {
  readonly ids: readonly string[];
}

/**
 * Fetches what an older clone of a repository may need into its mirror: the requested state, all branches and tags, and these
 * ids, as far as the forge has them. Rejects with RepositoryError if the forge does not answer.
 */
export async function refillMirror(mirror: Mirror, request: RefillRequest): Promise<void> {
  const { openRemote, ids, signal, onProgress } = request;
  const options = { signal, ...(onProgress && { onProgress }) };
  const remote = await openRemote();
  try {
    // The state may be gone, for example the branch of a merged pull request.
    await fetchState(mirror, remote, request).catch(unlessRef);
    await mirror.fetch(remote, allRefs, options);
    for (const id of ids.slice(0, maxIds)) {
      if (await mirror.has(id, signal)) continue;
      // Some forges serve commits that no branch has, and others refuse.
      await mirror.fetch(remote, [`+${id}:refs/switchyard/kept/${id}`], options).catch((error: unknown) => {
        if (signal.aborted) throw error;
      });
    }
  } finally {
    await remote.close();
  }
}

function unlessRef(error: unknown): void {
  if (!(error instanceof RepositoryError && error.code === 'NO_REF')) throw error;
}
