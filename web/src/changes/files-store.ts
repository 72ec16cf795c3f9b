import { fetchQuery, graphql } from 'react-relay';
import type { IEnvironment } from 'relay-runtime';
import type { filesStoreHunksQuery } from '../__generated__/filesStoreHunksQuery.graphql.ts';
import type { filesStoreQuery, filesStoreQuery$data } from '../__generated__/filesStoreQuery.graphql.ts';
import type { Hunk } from './diff-lines.ts';

const pageQuery = graphql`
  query filesStoreQuery(
    $id: ID!
    $turn: Int
    $directory: String!
    $filter: ChangedFileFilter!
    $after: String
  ) @throwOnFieldError {
    session(id: $id) {
      changes(turn: $turn, directory: $directory) {
        updatedAt
        files(first: 100, after: $after, filter: $filter) {
          totalCount
          pageInfo {
            hasNextPage
            endCursor
          }
          edges {
            cursor
            node {
              path
              oldPath
              status
              oldMode
              mode
              additions
              deletions
              isBinary
              isTruncated
              size
            }
          }
        }
      }
    }
  }
`;

const hunksQuery = graphql`
  query filesStoreHunksQuery(
    $id: ID!
    $turn: Int
    $directory: String!
    $filter: ChangedFileFilter!
  ) @throwOnFieldError {
    session(id: $id) {
      changes(turn: $turn, directory: $directory) {
        updatedAt
        files(first: 20, filter: $filter) {
          edges {
            cursor
            node {
              hunks {
                oldStart
                oldLines
                newStart
                newLines
                heading
                lines
              }
            }
          }
        }
      }
    }
  }
`;

type Files = NonNullable<filesStoreQuery$data['session']>['changes'][number]['files'];

/** A changed file without its hunks. Two files can have the same path, but not the same key. */
export type ListedFile = Files['edges'][number]['node'] & { readonly key: string };

/** The hunks of a file while they are loaded, or the reason why they could not be. */
export type LoadedHunks = 'loading' | readonly Hunk[] | Error;

/** The files and hunks that a {@link FilesStore} has loaded. */
export interface FilesSnapshot {
  readonly files: readonly ListedFile[];
  /** Files that match the filter; null: unknown. */
  readonly total: number | null;
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  readonly error: Error | null;
  readonly hunks: ReadonlyMap<string, LoadedHunks>;
  /** True if the service has replaced these changes by newer ones, and can no longer return these. */
  readonly isReplaced: boolean;
}

/** The list of changed files that a {@link FilesStore} reads. */
export interface FilesSource {
  readonly id: string;
  /** Null: all turns. */
  readonly turn: number | null;
  readonly directory: string;
  /** The time of the changes. Files of other changes are refused. */
  readonly updatedAt: string;
  /** Part of a path; empty: all files. */
  readonly search: string;
}

/** The number of files whose hunks are requested at once. */
const maxBatch = 10;

/** Reads the names of changed files page by page, and the hunks of the files that are shown. */
export class FilesStore {
  readonly #environment: IEnvironment;
  readonly #source: FilesSource;
  readonly #listeners = new Set<() => void>();
  readonly #wanted = new Map<string, ListedFile>();
  #isReading = false;
  #loading: Promise<void> | null = null;
  #after: string | null = null;
  #snapshot: FilesSnapshot = {
    files: [],
    total: null,
    hasMore: true,
    isLoading: false,
    error: null,
    hunks: new Map(),
    isReplaced: false,
  };

  constructor(environment: IEnvironment, source: FilesSource) {
    this.#environment = environment;
    this.#source = source;
  }

  readonly listen = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly snapshot = (): FilesSnapshot => this.#snapshot;

  /** Loads the next page of names. While one is being loaded, waits for it. */
  readonly loadMore = (): Promise<void> => {
    const { hasMore, isReplaced } = this.#snapshot;
    if (!hasMore || isReplaced) return Promise.resolve();
    this.#loading ??= this.#loadPage().finally(() => {
      this.#loading = null;
    });
    return this.#loading;
  };

  async #loadPage(): Promise<void> {
    this.#set({ isLoading: true, error: null });
    try {
      const found = await this.#read<filesStoreQuery>(pageQuery, {
        ...this.#variables(),
        filter: this.#search(),
        after: this.#after,
      });
      if (found === null) return this.#set({ isReplaced: true, isLoading: false });
      const { edges, pageInfo, totalCount } = found.files;
      this.#after = pageInfo.endCursor ?? null;
      this.#set({
        files: [...this.#snapshot.files, ...edges.map(({ cursor, node }) => ({ ...node, key: cursor }))],
        total: totalCount,
        hasMore: pageInfo.hasNextPage,
        isLoading: false,
      });
    } catch (error) {
      this.#set({ isLoading: false, error: error as Error });
    }
  }

  /** Loads pages until a file with this path is in the list. Returns its index; -1: there is none. */
  readonly find = async (path: string): Promise<number> => {
    for (;;) {
      const { files, hasMore, error, isReplaced } = this.#snapshot;
      const index = files.findIndex((each) => each.path === path);
      if (index >= 0 || !hasMore || error !== null || isReplaced) return index;
      await this.loadMore();
    }
  };

  /** Requests the hunks of a file, together with those of other files that are shown at the same time. */
  readonly loadHunks = (file: ListedFile): void => {
    const before = this.#snapshot.hunks.get(file.key);
    if (before !== undefined && !(before instanceof Error)) return;
    this.#setHunks([[file.key, 'loading']]);
    this.#wanted.set(file.key, file);
    if (!this.#isReading) {
      this.#isReading = true;
      queueMicrotask(() => void this.#readHunks());
    }
  };

  async #readHunks(): Promise<void> {
    while (this.#wanted.size > 0) {
      // The last ones first: the user may have scrolled on.
      const batch = [...this.#wanted.values()].slice(-maxBatch);
      for (const { key } of batch) this.#wanted.delete(key);
      try {
        const filter = { paths: [...new Set(batch.map(({ path }) => path))] };
        const found = await this.#read<filesStoreHunksQuery>(hunksQuery, { ...this.#variables(), filter });
        if (found === null) this.#set({ isReplaced: true });
        const byKey = new Map(found?.files.edges.map(({ cursor, node }) => [cursor, node.hunks]));
        const gone = new Error('Newer changes have replaced these.');
        this.#setHunks(batch.map(({ key }) => [key, found === null ? gone : (byKey.get(key) ?? [])]));
      } catch (error) {
        this.#setHunks(batch.map(({ key }) => [key, error as Error]));
      }
    }
    this.#isReading = false;
  }

  // Null: the changes are not those of the source.
  async #read<T extends filesStoreQuery | filesStoreHunksQuery>(
    query: typeof pageQuery,
    variables: T['variables'],
  ): Promise<NonNullable<T['response']['session']>['changes'][number] | null> {
    const { updatedAt } = this.#source;
    const data = await fetchQuery<T>(this.#environment, query, variables, { fetchPolicy: 'network-only' }).toPromise();
    const [changes] = data?.session?.changes ?? [];
    return changes?.updatedAt === updatedAt ? changes : null;
  }

  #variables() {
    const { id, turn, directory } = this.#source;
    return { id, turn, directory };
  }

  #search(): { search?: string } {
    const { search } = this.#source;
    return search === '' ? {} : { search };
  }

  #setHunks(changed: readonly (readonly [string, LoadedHunks])[]): void {
    this.#set({ hunks: new Map([...this.#snapshot.hunks, ...changed]) });
  }

  #set(change: Partial<FilesSnapshot>): void {
    this.#snapshot = { ...this.#snapshot, ...change };
    for (const each of this.#listeners) each();
  }
}
