import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay';
import type { useTranscriptSearchQuery } from '../__generated__/useTranscriptSearchQuery.graphql.ts';
import { matchedParts } from '../search/text-range.ts';

const pageSize = 50;
/** The delay between typing and the search, in ms. */
const typingMs = 200;

type Match = NonNullable<NonNullable<useTranscriptSearchQuery['response']['session']>['search']>['nodes'][number];

/** The entries of a session that match a query. */
export interface TranscriptMatches {
  /** The loaded ones, newest first. */
  readonly matches: readonly Match[];
  readonly total: number;
  readonly isTotalExact: boolean;
  /** The matched parts of the loaded excerpts, each once. */
  readonly parts: readonly string[];
  readonly state: 'none' | 'loading' | 'loaded' | 'failed';
  /** The message of the service if the search failed; null: none. */
  readonly problem: string | null;
  /** Loads the next page. Resolves to its first match; null: there is none. */
  readonly loadMore: () => Promise<Match | null>;
}

interface Found extends Omit<TranscriptMatches, 'loadMore' | 'parts'> {
  /** The query that these are for. */
  readonly query: string;
  readonly startCursor: string | null;
}

const nothing: Found = {
  query: '',
  matches: [],
  total: 0,
  isTotalExact: true,
  state: 'none',
  problem: null,
  startCursor: null,
};

/** Searches the log of a session on the server, a moment after the query has changed. An empty query finds nothing. */
export function useTranscriptSearch(sessionId: string, query: string): TranscriptMatches {
  const environment = useRelayEnvironment();
  const [found, setFound] = useState<Found>(nothing);
  const version = useRef(0);
  const read = useCallback(
    async (before: string | null) => {
      const response = await fetchQuery<useTranscriptSearchQuery>(
        environment,
        graphql`
          query useTranscriptSearchQuery($id: ID!, $query: String!, $last: Int!, $before: String) @throwOnFieldError {
            session(id: $id) {
              search(query: $query, last: $last, before: $before) {
                totalCount
                totalCountIsExact
                pageInfo {
                  hasPreviousPage
                  startCursor
                }
                nodes {
                  cursor
                  excerpt {
                    text
                    highlights {
                      start
                      length
                    }
                    ...excerpt_excerpt
                  }
                }
              }
            }
          }
        `,
        { id: sessionId, query, last: pageSize, before },
      ).toPromise();
      const found = response?.session?.search;
      return found ? { ...found, nodes: found.nodes.toReversed() } : null;
    },
    [environment, sessionId, query],
  );
  useEffect(() => {
    const mine = ++version.current;
    if (query === '') return setFound(nothing);
    setFound((before) => ({ ...before, query, state: 'loading', problem: null }));
    const timer = setTimeout(async () => {
      try {
        const page = await read(null);
        if (mine !== version.current) return;
        setFound({
          query,
          matches: page?.nodes ?? [],
          total: page?.totalCount ?? 0,
          isTotalExact: page?.totalCountIsExact ?? true,
          state: 'loaded',
          problem: null,
          startCursor: nextCursor(page),
        });
      } catch (error) {
        if (mine === version.current)
          setFound({ ...nothing, query, state: 'failed', problem: (error as Error).message });
      }
    }, typingMs);
    return () => clearTimeout(timer);
  }, [read, query]);
  const { startCursor, query: foundQuery, ...rest } = found;
  // The first rendering with another query still has what was found for the one before.
  const state = foundQuery === query ? rest.state : 'loading';
  const loadMore = useCallback(async () => {
    const mine = version.current;
    if (startCursor === null) return null;
    const page = await read(startCursor).catch(() => null);
    if (mine !== version.current || page === null) return null;
    setFound((before) => ({
      ...before,
      matches: [...before.matches, ...page.nodes],
      startCursor: nextCursor(page),
    }));
    return page.nodes[0] ?? null;
  }, [startCursor, read]);
  const { matches } = rest;
  const parts = useMemo(
    () => [...new Set(matches.flatMap(({ excerpt }) => matchedParts(excerpt.text, excerpt.highlights)))],
    [matches],
  );
  return { ...rest, state, parts, loadMore };
}

const nextCursor = (
  page: {
    readonly pageInfo: { readonly hasPreviousPage: boolean; readonly startCursor?: string | null | undefined };
  } | null,
) => (page?.pageInfo.hasPreviousPage ? (page.pageInfo.startCursor ?? null) : null);
