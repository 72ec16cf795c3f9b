import { useEffect, useState } from 'react';
import { graphql } from 'react-relay';
import type { useRefreshMutation } from '../__generated__/useRefreshMutation.graphql.ts';
import { useMutation } from '../relay/use-mutation.ts';

/** A comparison that failed reports nothing: after this time the user may try again. */
const maxWaitMs = 20_000;

/**
 * Asks the worker of the open turn to store the changes so far. It is refreshing until `updatedAt` changes, which can take
 * some seconds; a refresh that the page makes by itself (`isQuiet`) does not show.
 */
export function useRefresh(
  sessionId: string,
  updatedAt: string | null,
): [refresh: (isQuiet?: boolean) => void, isRefreshing: boolean] {
  const [commit] = useMutation<useRefreshMutation>(graphql`
    mutation useRefreshMutation($input: RefreshSessionChangesInput!) {
      refreshSessionChanges(input: $input) {
        userErrors {
          message
        }
      }
    }
  `);
  const [isRefreshing, setRefreshing] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: until the changes are stored.
  useEffect(() => setRefreshing(false), [updatedAt]);
  useEffect(() => {
    if (!isRefreshing) return;
    const timer = window.setTimeout(() => setRefreshing(false), maxWaitMs);
    return () => clearTimeout(timer);
  }, [isRefreshing]);
  const refresh = (isQuiet = false) => {
    if (!isQuiet) setRefreshing(true);
    void commit({ input: { sessionId } }).then(({ errors }) => {
      if (errors) setRefreshing(false);
    });
  };
  return [refresh, isRefreshing];
}
