import { useEffect, useMemo, useRef, useState } from 'react';
import { graphql } from 'react-relay';
import type { useNewerFilesQuery } from '../__generated__/useNewerFilesQuery.graphql.ts';
import { usePolling } from '../relay/use-polling.ts';
import type { LoadedDirectory } from './use-directory.ts';

const query = graphql`
  query useNewerFilesQuery($id: ID!) {
    session(id: $id) {
      checkpoint {
        checkpointId
        createdAt
      }
    }
  }
`;

const everyMs = 3_000;

interface NewerFilesOptions {
  /** The global id of the session. */
  readonly id: string;
  /** True if the newest checkpoint is shown. */
  readonly isNewest: boolean;
  /** The part of the checkpoint that is shown. */
  readonly shown: Pick<LoadedDirectory, 'directory' | 'error'>;
  /** True if newer files would replace or move what the user reads. */
  readonly isReading: boolean;
  readonly refresh: () => void;
}

/**
 * Looks for a checkpoint that is newer than the one that is shown, which no subscription reports. Shows its files at once, or returns
 * true if they would disturb the user.
 */
export function useNewerFiles({ id, isNewest, shown, isReading, refresh }: NewerFilesOptions): boolean {
  const variables = useMemo(() => ({ id }), [id]);
  const [newest, setNewest] = useState<{ readonly checkpointId: string; readonly createdAt: string } | null>(null);
  usePolling<useNewerFilesQuery>({
    query,
    variables,
    everyMs: isNewest ? everyMs : null,
    onRead: ({ session }) => setNewest(session?.checkpoint ?? null),
  });
  const { directory, error } = shown;
  const savedAt = directory?.savedAt ?? null;
  const isNewer =
    isNewest && newest !== null && (savedAt === null || Date.parse(newest.createdAt) > Date.parse(savedAt));
  const isWanted = isNewest && (error !== null || (isNewer && !isReading));
  // Once for each checkpoint: one that cannot be read stays so.
  const wanted = isWanted ? (newest?.checkpointId ?? null) : null;
  const latest = useRef(refresh);
  latest.current = refresh;
  const requested = useRef<string | null>(null);
  useEffect(() => {
    if (wanted === null || wanted === requested.current) return;
    requested.current = wanted;
    latest.current();
  }, [wanted]);
  return isNewer && savedAt !== null && isReading && error === null;
}
