import { useEffect, useState } from 'react';
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay';
import type { useFileLinkQuery } from '../__generated__/useFileLinkQuery.graphql.ts';
import type { useFileQuery, useFileQuery$data } from '../__generated__/useFileQuery.graphql.ts';

const query = graphql`
  query useFileQuery($id: ID!, $path: String!, $checkpointId: ID) @throwOnFieldError {
    session(id: $id) {
      file(path: $path, checkpointId: $checkpointId) {
        path
        type
        sizeBytes
        mode
        modifiedAt
        target
        text
      }
    }
  }
`;

const linkQuery = graphql`
  query useFileLinkQuery($id: ID!, $path: String!, $checkpointId: ID) @throwOnFieldError {
    session(id: $id) {
      file(path: $path, checkpointId: $checkpointId) {
        downloadUrl
      }
    }
  }
`;

/** A file, a directory or a link with its text. */
export type ShownFile = NonNullable<NonNullable<useFileQuery$data['session']>['file']>;

/** A path in a checkpoint. */
export interface FileSource {
  /** The global id of the session. */
  readonly id: string;
  readonly path: string;
  /** Empty: the newest one. */
  readonly checkpointId: string;
}

/** The state of {@link useFile}: `missing` if there is nothing at the path. */
export type LoadedFile = 'loading' | 'missing' | Error | ShownFile;

/** Reads what is at a path. Another `reading` reads it again, and the former one is shown meanwhile. */
export function useFile({ id, path, checkpointId, reading }: FileSource & { readonly reading: number }): LoadedFile {
  const environment = useRelayEnvironment();
  const key = `${checkpointId} ${path}`;
  const [loaded, setLoaded] = useState<{ readonly key: string; readonly file: LoadedFile } | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each time that it is to be read again.
  useEffect(() => {
    const variables = { id, path, checkpointId: checkpointId || null };
    const reader = fetchQuery<useFileQuery>(environment, query, variables, { fetchPolicy: 'network-only' }).subscribe({
      next: (data) => setLoaded({ key, file: data.session?.file ?? 'missing' }),
      error: (error: Error) => setLoaded({ key, file: error }),
    });
    return () => reader.unsubscribe();
  }, [environment, id, path, checkpointId, key, reading]);
  return loaded?.key === key ? loaded.file : 'loading';
}

/** Returns a function that requests a URL to download a path from. Null: there is none. Rejects if it cannot be requested. */
export function useFileLink(): (source: FileSource) => Promise<string | null> {
  const environment = useRelayEnvironment();
  return async ({ id, path, checkpointId }) => {
    const variables = { id, path, checkpointId: checkpointId || null };
    const options = { fetchPolicy: 'network-only' } as const;
    const data = await fetchQuery<useFileLinkQuery>(environment, linkQuery, variables, options).toPromise();
    return data?.session?.file?.downloadUrl ?? null;
  };
}
