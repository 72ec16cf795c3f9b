import { useCallback, useEffect, useRef, useState } from 'react';
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay';
import type { useSessionCountQuery } from '../__generated__/useSessionCountQuery.graphql.ts';
import type { Filter } from './filters.ts';

/** The interval in ms at which the sessions are counted again at most. */
const recountMs = 2_000;

/** The number of sessions of a list. The service counts up to 10,000. */
export interface SessionCount {
  readonly count: number;
  readonly isExact: boolean;
}

const document = graphql`
  query useSessionCountQuery($id: ID!, $filter: SessionFilter) {
    organization(id: $id) {
      sessions(first: 1, filter: $filter) {
        totalCount
        totalCountIsExact
      }
    }
  }
`;

/**
 * Counts the sessions that match a filter, apart from their rows, which do not wait for the number. Returns null until it is known,
 * and a function that counts them again soon.
 */
export function useSessionCount(organizationId: string, filter: Filter): readonly [SessionCount | null, () => void] {
  const environment = useRelayEnvironment();
  const [found, setFound] = useState<SessionCount | null>(null);
  const [run, setRun] = useState(0);
  const timer = useRef(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each run counts again.
  useEffect(() => {
    const variables = { id: organizationId, filter };
    const request = fetchQuery<useSessionCountQuery>(environment, document, variables, {
      fetchPolicy: 'network-only',
    }).subscribe({
      next: ({ organization }) => {
        const sessions = organization?.sessions;
        setFound(sessions ? { count: sessions.totalCount, isExact: sessions.totalCountIsExact } : null);
      },
      // A list without a number is still a list.
      error: () => setFound(null),
    });
    return () => request.unsubscribe();
  }, [environment, organizationId, filter, run]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const recount = useCallback(() => {
    if (timer.current !== 0) return;
    timer.current = window.setTimeout(() => {
      timer.current = 0;
      setRun((before) => before + 1);
    }, recountMs);
  }, []);
  return [found, recount];
}
