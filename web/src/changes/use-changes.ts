import { useCallback, useEffect, useRef, useState } from 'react';
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay';
import type { useChangesQuery, useChangesQuery$data } from '../__generated__/useChangesQuery.graphql.ts';

const query = graphql`
  query useChangesQuery($id: ID!, $turn: Int) @throwOnFieldError {
    session(id: $id) {
      changesUpdatedAt
      events(kinds: [TURN], last: 1) {
        nodes {
          ... on TurnEvent {
            turn
          }
        }
      }
      changes(turn: $turn) {
        updatedAt
        base
        head
        fileCount
        additions
        deletions
        isTruncated
        patchUrl
        bundleUrl
        repository {
          host
          path
          branch
          directory
        }
      }
    }
  }
`;

type Session = NonNullable<useChangesQuery$data['session']>;

/** The changes of a repository without their files. */
export type RepositoryChanges = Omit<Session['changes'][number], 'repository'> & {
  readonly repository: NonNullable<Session['changes'][number]['repository']>;
};

/** The changes of a session or of a turn, as they were at one time. */
export interface Changes {
  readonly repositories: readonly RepositoryChanges[];
  /** The number of the last turn; 0: no turn has begun. */
  readonly lastTurn: number;
}

/** See {@link useChanges}. */
export interface LoadedChanges {
  /** Null: they are being loaded. */
  readonly shown: Changes | null;
  readonly error: Error | null;
  /** True until the changes that were stored last are read. */
  readonly isBehind: boolean;
  /** True if {@link showLatest} would show other changes. */
  readonly isOutdated: boolean;
  readonly showLatest: () => void;
  /** Shows the next changes as soon as they are stored. */
  readonly showNext: () => void;
  /** Reads the changes again, for the addresses of their files or after an error. Null if that fails. */
  readonly read: () => Promise<Changes | null>;
}

const timesOf = ({ repositories }: Changes) => repositories.map(({ updatedAt }) => updatedAt).join();

/**
 * Reads the changes of a session or of one turn (null: all turns), and reads them again when `updatedAt` changes. Newer
 * changes replace those that the user reads only after `showNext`, or if those are empty.
 */
export function useChanges(id: string, turn: number | null, updatedAt: string | null): LoadedChanges {
  const environment = useRelayEnvironment();
  const [shown, setShown] = useState<Changes | null>(null);
  const [latest, setLatest] = useState<Changes | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const [readAt, setReadAt] = useState<string | null | undefined>(undefined);
  const isNextWanted = useRef(false);
  const read = useCallback(async () => {
    try {
      const variables = { id, turn };
      const found = await fetchQuery<useChangesQuery>(environment, query, variables, {
        fetchPolicy: 'network-only',
      }).toPromise();
      setError(null);
      return toChanges(found?.session);
    } catch (caught) {
      setError(caught as Error);
      return null;
    }
  }, [environment, id, turn]);
  useEffect(() => {
    let isCurrent = true;
    void read().then((found) => {
      if (!isCurrent) return;
      setReadAt(updatedAt);
      if (found === null) return;
      setLatest(found);
      const isWanted = isNextWanted.current;
      isNextWanted.current = false;
      setShown((before) => (before === null || isWanted || isEmpty(before) ? found : before));
    });
    return () => {
      isCurrent = false;
    };
  }, [read, updatedAt]);
  const showLatest = useCallback(() => {
    void read().then((found) => {
      if (found === null) return;
      setLatest(found);
      setShown(found);
    });
  }, [read]);
  const isOutdated = shown !== null && latest !== null && timesOf(shown) !== timesOf(latest);
  const showNext = useCallback(() => {
    isNextWanted.current = true;
  }, []);
  return { shown, error, isBehind: readAt !== updatedAt, isOutdated, showLatest, showNext, read };
}

const isEmpty = ({ repositories }: Changes) => repositories.every(({ fileCount }) => fileCount === 0);

function toChanges(session: Session | null | undefined): Changes {
  const repositories = (session?.changes ?? []).flatMap(({ repository, ...rest }) =>
    repository ? [{ ...rest, repository }] : [],
  );
  const [last] = session?.events.nodes ?? [];
  return { repositories, lastTurn: last?.turn ?? 0 };
}
