import { graphql, readInlineData } from 'react-relay';
import type { transcriptPage_events$key } from '../__generated__/transcriptPage_events.graphql.ts';
import { type Entry, readEntry } from './entry.ts';

/** Consecutive entries of a session's log. */
export interface TranscriptPage {
  readonly entries: readonly Entry[];
  readonly hasEarlier: boolean;
  readonly hasLater: boolean;
  /** The cursors of the entries, by their numbers in the log. */
  readonly cursors: readonly (readonly [seq: number, cursor: string])[];
  /** The cursor of the first entry; null without entries. */
  readonly startCursor: string | null;
  /** The cursor of the last entry, after which a subscription continues; null without entries. */
  readonly endCursor: string | null;
}

/** Reads a page of the log from a Relay reference. */
export function readTranscriptPage(reference: transcriptPage_events$key): TranscriptPage {
  const { edges, pageInfo } = readInlineData(
    graphql`
      fragment transcriptPage_events on SessionEventConnection @inline {
        edges {
          cursor
          node {
            ...entry_event
          }
        }
        pageInfo {
          hasPreviousPage
          hasNextPage
          startCursor
        }
      }
    `,
    reference,
  );
  const entries = edges.map(({ node }) => readEntry(node));
  return {
    entries,
    hasEarlier: pageInfo.hasPreviousPage,
    hasLater: pageInfo.hasNextPage,
    cursors: entries.flatMap(({ seq }, index) => {
      const cursor = edges[index]?.cursor;
      return cursor === undefined ? [] : [[seq, cursor] as const];
    }),
    startCursor: pageInfo.startCursor ?? null,
    endCursor: edges.at(-1)?.cursor ?? null,
  };
}
