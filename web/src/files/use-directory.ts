import { useCallback, useEffect, useRef, useState } from 'react';
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay';
import type { useDirectoryQuery, useDirectoryQuery$data } from '../__generated__/useDirectoryQuery.graphql.ts';

const query = graphql`
  query useDirectoryQuery($id: ID!, $path: String!, $checkpointId: ID, $after: String) @throwOnFieldError {
    session(id: $id) {
      file(path: $path, checkpointId: $checkpointId) {
        savedAt
        missing {
          path
          reason
          sizeBytes
          fileCount
        }
      }
      files(path: $path, checkpointId: $checkpointId, first: 100, after: $after) {
        totalCount
        nodes {
          name
          path
          type
          sizeBytes
          mode
          modifiedAt
          target
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  }
`;

type Session = NonNullable<useDirectoryQuery$data['session']>;

/** An entry of a directory. */
export type FileEntry = Session['files']['nodes'][number];

/** A part of a directory that is not in its checkpoint. */
export type MissingPart = NonNullable<Session['file']>['missing'][number];

/** The entries of a directory that are loaded. */
export interface Directory {
  readonly path: string;
  /** The time of the checkpoint; null: there is none. */
  readonly savedAt: string | null;
  readonly missing: readonly MissingPart[];
  readonly totalCount: number;
  readonly entries: readonly FileEntry[];
  /** True until further pages of it are loaded. */
  readonly isFirstPage: boolean;
  /** The cursor of the next page; null: all are loaded. */
  readonly next: string | null;
}

/** A directory of a checkpoint. */
export interface DirectorySource {
  /** The global id of the session. */
  readonly id: string;
  /** Null: not known yet. */
  readonly path: string | null;
  /** Empty: the newest one. */
  readonly checkpointId: string;
  /** Another number reads it again. */
  readonly reading: number;
}

/** See {@link useDirectory}. */
export interface LoadedDirectory {
  /** The directory that was loaded last, also while another one is loaded; null: none yet. */
  readonly directory: Directory | null;
  readonly error: Error | null;
  readonly isLoading: boolean;
  readonly loadMore: () => void;
}

/** Reads a directory of a session's workspace, page by page. */
export function useDirectory({ id, path, checkpointId, reading }: DirectorySource): LoadedDirectory {
  const environment = useRelayEnvironment();
  const [directory, setDirectory] = useState<Directory | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const [isLoading, setLoading] = useState(true);
  const turn = useRef(0);
  const read = useCallback(
    async (before: Directory | null) => {
      if (path === null) return;
      const own = ++turn.current;
      setLoading(true);
      try {
        const variables = { id, path, checkpointId: checkpointId || null, after: before?.next ?? null };
        const options = { fetchPolicy: 'network-only' } as const;
        const data = await fetchQuery<useDirectoryQuery>(environment, query, variables, options).toPromise();
        if (own !== turn.current) return;
        const session = data?.session;
        const { nodes = [], pageInfo, totalCount = 0 } = session?.files ?? {};
        const next = pageInfo?.hasNextPage ? (pageInfo.endCursor ?? null) : null;
        // The pages of a list are of one checkpoint: the first one says which.
        const { savedAt, missing } = before ?? {
          savedAt: session?.file?.savedAt ?? null,
          missing: session?.file?.missing ?? [],
        };
        setError(null);
        const entries = [...(before?.entries ?? []), ...nodes];
        setDirectory({ path, savedAt, missing, totalCount, entries, isFirstPage: before === null, next });
      } catch (caught) {
        if (own === turn.current) setError(caught as Error);
      }
      if (own === turn.current) setLoading(false);
    },
    [environment, id, path, checkpointId],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: each time that it is to be read again.
  useEffect(() => {
    void read(null);
  }, [read, reading]);
  const loadMore = useCallback(() => {
    if (directory?.next != null && !isLoading) void read(directory);
  }, [directory, isLoading, read]);
  return { directory, error, isLoading, loadMore };
}
