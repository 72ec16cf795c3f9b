import { useMemo, useRef } from 'react';
import { fetchQuery, useRelayEnvironment } from 'react-relay';
import type { GraphQLTaggedNode, OperationType } from 'relay-runtime';
import type { Choice, ChoiceSource } from '../ui/use-choices.ts';

interface Page {
  readonly choices: readonly Choice[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null | undefined };
}

/**
 * A source of choices that reads a list page by page with a query that has `$after`. `read` finds the page in a
 * response.
 */
export function useSource<Q extends OperationType & { readonly variables: { after?: string | null | undefined } }>(
  query: GraphQLTaggedNode,
  variables: Omit<Q['variables'], 'after'>,
  read: (answer: Q['response']) => Page | null | undefined,
): ChoiceSource {
  const environment = useRelayEnvironment();
  const reader = useRef(read);
  reader.current = read;
  const key = JSON.stringify(variables);
  return useMemo<ChoiceSource>(
    () => async (after) => {
      const wanted = { ...JSON.parse(key), after } as Q['variables'];
      const options = { networkCacheConfig: { force: true } };
      const answer = await fetchQuery<Q>(environment, query, wanted, options).toPromise();
      const page = answer ? reader.current(answer) : null;
      return {
        choices: page?.choices ?? [],
        next: page?.pageInfo.hasNextPage ? (page.pageInfo.endCursor ?? null) : null,
      };
    },
    [environment, query, key],
  );
}
