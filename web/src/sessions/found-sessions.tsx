import '../search/search.css';
import { graphql, usePaginationFragment } from 'react-relay';
import { Link } from 'wouter';
import type { foundSessions_organization$key } from '../__generated__/foundSessions_organization.graphql.ts';
import type { foundSessionsPaginationQuery } from '../__generated__/foundSessionsPaginationQuery.graphql.ts';
import { Excerpt } from '../search/excerpt.tsx';
import { MarkedText } from '../search/marked-text.tsx';
import { matchAddress } from '../search/match-address.ts';
import { sessionAddress } from '../session/address.ts';
import { plainTitle } from '../session/plain-title.ts';
import { common } from '../texts/common.ts';
import { foundSessions as texts } from '../texts/sessions.ts';
import { StatusBadge } from '../ui/badge.tsx';
import { More } from '../ui/more.tsx';
import { Empty } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { useListKeys } from '../ui/use-list-keys.ts';

interface FoundSessionsProps {
  readonly organization: foundSessions_organization$key;
  readonly query: string;
}

/** The sessions whose titles or transcripts match a query, with the newest matching entries of each. */
export function FoundSessions({ organization, query }: FoundSessionsProps) {
  const { data, loadNext, hasNext, isLoadingNext } = usePaginationFragment<
    foundSessionsPaginationQuery,
    foundSessions_organization$key
  >(
    graphql`
      fragment foundSessions_organization on Organization
      @throwOnFieldError
      @refetchable(queryName: "foundSessionsPaginationQuery")
      @argumentDefinitions(
        query: { type: "String!" }
        filter: { type: "SessionFilter" }
        count: { type: "Int", defaultValue: 20 }
        cursor: { type: "String" }
      ) {
        sessionSearch(query: $query, first: $count, after: $cursor, filter: $filter)
          @connection(key: "foundSessions_sessionSearch", filters: ["query", "filter"]) {
          edges {
            node {
              session {
                id
                sessionId
                title
                status
                statusDetail
                waitsUntil
                endReason
                updatedAt
              }
              titleHighlights {
                start
                length
              }
              matches {
                cursor
                excerpt {
                  ...excerpt_excerpt
                }
              }
            }
          }
        }
      }
    `,
    organization,
  );
  const list = useListKeys<HTMLUListElement>();
  const { edges } = data.sessionSearch;
  if (edges.length === 0) return <Empty title={common.noMatches} text={texts.noneText} />;
  return (
    <>
      <ul className="sessions found card" ref={list} aria-label={texts.label}>
        {edges.map(({ node: { session, titleHighlights, matches } }) => (
          <li key={session.id}>
            <div className="what">
              <Link href={sessionAddress(session.sessionId)} data-list-item>
                {titleHighlights.length > 0 ? (
                  <MarkedText text={session.title ?? ''} ranges={titleHighlights} />
                ) : (
                  plainTitle(session.title)
                )}
              </Link>
              {matches.map(({ cursor, excerpt }) => (
                <Link className="match" key={cursor} href={matchAddress(session.sessionId, cursor, query)}>
                  <Excerpt excerpt={excerpt} />
                </Link>
              ))}
            </div>
            <StatusBadge {...session} />
            <span className="when">
              <Time at={session.updatedAt} />
            </span>
          </li>
        ))}
      </ul>
      <More hasMore={hasNext} isLoading={isLoadingNext} onMore={() => loadNext(20)} />
    </>
  );
}
