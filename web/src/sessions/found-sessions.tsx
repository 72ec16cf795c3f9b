import '../search/search.css';
import { useRef } from 'react';
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
import { sessionList, sessionRow, foundSessions as texts } from '../texts/sessions.ts';
import { StatusBadge } from '../ui/badge.tsx';
import { More } from '../ui/more.tsx';
import { Empty } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { useListKeys } from '../ui/use-list-keys.ts';
import { BulkBar } from './bulk-bar.tsx';
import { ListHead } from './list-head.tsx';
import { useSelection } from './use-selection.ts';

interface FoundSessionsProps {
  readonly organization: foundSessions_organization$key;
  readonly organizationId: string;
  readonly query: string;
  /** The archived sessions of the filter, or those that are not; missing: both. */
  readonly isArchived: boolean | undefined;
}

/** The sessions whose titles or transcripts match a query, with the newest matching entries of each. */
export function FoundSessions({ organization, organizationId, query, isArchived }: FoundSessionsProps) {
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
          totalCount
          totalCountIsExact
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
                tags
                isArchived
                pendingQuestion {
                  id
                }
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
  const { totalCount: count, totalCountIsExact: isExact } = data.sessionSearch;
  // As in the list, archived sessions disappear at once, and return on undo.
  const edges = data.sessionSearch.edges.filter(
    ({ node }) => isArchived === undefined || node.session.isArchived === isArchived,
  );
  const here = edges.map(({ node }) => node.session.sessionId);
  const { selected, select, replace } = useSelection(here);
  const chosen = edges.map(({ node }) => node.session).filter(({ sessionId }) => selected.has(sessionId));
  const isShift = useRef(false);
  if (edges.length === 0) return <Empty title={common.noMatches} text={texts.noneText} />;
  return (
    <>
      <ListHead
        total={{ count, isExact }}
        order="updated"
        orders={['updated']}
        isAll={chosen.length === edges.length}
        isSome={chosen.length > 0}
        label={chosen.length > 0 ? sessionList.selected({ count: chosen.length }) : sessionList.selectShown}
        onSelectAll={(isSelected) => replace(isSelected ? here : [])}
      >
        {chosen.length > 0 && (
          <BulkBar
            target={{ sessionIds: chosen.map(({ sessionId }) => sessionId) }}
            count={chosen.length}
            isArchived={isArchived ?? false}
            {...{ organizationId, chosen }}
            onDone={() => replace([])}
          />
        )}
      </ListHead>
      <ul className="sessions found card" ref={list} aria-label={texts.label}>
        {edges.map(({ node: { session, titleHighlights, matches } }) => (
          <li key={session.id} className={selected.has(session.sessionId) ? 'selected' : undefined}>
            <input
              type="checkbox"
              checked={selected.has(session.sessionId)}
              onClick={(event) => {
                isShift.current = event.shiftKey;
              }}
              onChange={({ target }) => select(session.sessionId, target.checked, isShift.current)}
              aria-label={sessionRow.select({ title: plainTitle(session.title) })}
            />
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
