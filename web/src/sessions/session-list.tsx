import { useCallback, useMemo, useState } from 'react';
import { fetchQuery, graphql, usePaginationFragment, useRelayEnvironment } from 'react-relay';
import { commitLocalUpdate, type RecordSourceProxy } from 'relay-runtime';
import type { sessionList_organization$key } from '../__generated__/sessionList_organization.graphql.ts';
import type { sessionListPaginationQuery } from '../__generated__/sessionListPaginationQuery.graphql.ts';
import type { sessionListRowsQuery } from '../__generated__/sessionListRowsQuery.graphql.ts';
import type { sessionListSubscription } from '../__generated__/sessionListSubscription.graphql.ts';
import { useLive } from '../relay/use-live.ts';
import { common } from '../texts/common.ts';
import { sessionList as texts } from '../texts/sessions.ts';
import { Button } from '../ui/button.tsx';
import { More } from '../ui/more.tsx';
import { Empty } from '../ui/states.tsx';
import { useListKeys } from '../ui/use-list-keys.ts';
import { BulkBar } from './bulk-bar.tsx';
import type { Filter } from './filters.ts';
import { ListHead } from './list-head.tsx';
import { NoneMatch } from './none-match.tsx';
import { insertRow, keepRows, removeRow, type SortField } from './session-connection.ts';
import { type Order, orders } from './session-order.ts';
import { SessionRow } from './session-row.tsx';
import { useSelection } from './use-selection.ts';
import { useSessionCount } from './use-session-count.ts';

const pageSize = 50;

interface SessionListProps {
  readonly organization: sessionList_organization$key;
  readonly organizationId: string;
  readonly filter: Filter;
  readonly order: Order;
  /** True if the user came back from a session, and the rows are those from before. */
  readonly isReturned: boolean;
  readonly isNarrowed: boolean;
  /** True if the only filter is that for archived sessions. */
  readonly isArchive: boolean;
  readonly onSort: (order: Order) => void;
  readonly onNew: () => void;
  readonly onClear: () => void;
  /** Shows the sessions whose transcripts match the text. */
  readonly onTranscripts: () => void;
}

/**
 * The list of sessions, kept up to date. A session that starts to match the filter is inserted in the order of the list;
 * one that no longer matches is removed.
 */
export function SessionList(props: SessionListProps) {
  const { organization, organizationId, filter, order, isReturned, isNarrowed, isArchive, onSort } = props;
  const { onNew, onClear, onTranscripts } = props;
  const { data, loadNext, hasNext, isLoadingNext } = usePaginationFragment<
    sessionListPaginationQuery,
    sessionList_organization$key
  >(
    graphql`
      fragment sessionList_organization on Organization
      @throwOnFieldError
      @refetchable(queryName: "sessionListPaginationQuery")
      @argumentDefinitions(
        filter: { type: "SessionFilter" }
        orderBy: { type: "SessionOrder" }
        count: { type: "Int", defaultValue: 50 }
        cursor: { type: "String" }
      ) {
        sessions(first: $count, after: $cursor, filter: $filter, orderBy: $orderBy)
          @connection(key: "sessionList_sessions", filters: ["filter", "orderBy"]) {
          __id
          edges {
            node {
              id
              sessionId
              status
              statusDetail
              tags
              isArchived
              pendingQuestion {
                id
              }
              ...sessionRow_session
              ...sessionFacts_session
            }
          }
        }
      }
    `,
    organization,
  );
  const connectionId = data.sessions.__id;
  const [total, recount] = useSessionCount(organizationId, filter);
  useLiveSessions({ organizationId, filter, order, connectionId, isReturned, onResize: recount });
  // The selection belongs to this filter: another filter has other matches.
  const [selectedFilter, setSelectedFilter] = useState<Filter | null>(null);
  const list = useListKeys<HTMLUListElement>();
  // Archived sessions disappear at once, and return on undo.
  const edges = data.sessions.edges.filter(
    ({ node }) => filter.isArchived === undefined || node.isArchived === filter.isArchived,
  );
  const here = edges.map(({ node }) => node.sessionId);
  const { selected, select, replace } = useSelection(here);
  const selectRow: typeof select = useCallback(
    (id, isSelected, isRange) => {
      if (!isSelected) setSelectedFilter(null);
      select(id, isSelected, isRange);
    },
    [select],
  );
  const isChosen = ({ sessionId }: { readonly sessionId: string }) => selected.has(sessionId);
  const chosen = here.filter((id) => selected.has(id));
  const isAllMatching = selectedFilter === filter;
  const target = isAllMatching ? { filter, organizationId } : { sessionIds: chosen };
  const selectionLabel = chosen.length > 0 ? texts.selected({ count: chosen.length }) : texts.selectShown;
  const isAll = here.length > 0 && chosen.length === here.length;

  if (edges.length === 0) {
    if (isArchive) return <Empty title={texts.noneArchived} text={texts.noneArchivedText} />;
    return isNarrowed ? (
      <NoneMatch {...{ organizationId, filter, onClear, onTranscripts }} />
    ) : (
      <Empty title={texts.none} text={texts.noneText}>
        <Button tone="primary" icon="plus" onClick={onNew}>
          {common.newSession}
        </Button>
      </Empty>
    );
  }
  return (
    <>
      <ListHead
        total={total}
        order={order}
        orders={['newest', 'updated']}
        isAll={isAll}
        isSome={chosen.length > 0}
        label={isAllMatching ? texts.allSelected : selectionLabel}
        onSort={onSort}
        onSelectAll={(isSelected) => {
          replace(isSelected ? here : []);
          setSelectedFilter(null);
        }}
      >
        {isAll && hasNext && !isAllMatching && (
          <Button size="small" onClick={() => setSelectedFilter(filter)}>
            {texts.selectAll}
          </Button>
        )}
        {(chosen.length > 0 || isAllMatching) && (
          <BulkBar
            target={target}
            count={isAllMatching ? null : chosen.length}
            organizationId={organizationId}
            isArchived={filter.isArchived ?? false}
            chosen={isAllMatching ? edges.map(({ node }) => node) : edges.map(({ node }) => node).filter(isChosen)}
            onDone={() => {
              replace([]);
              setSelectedFilter(null);
            }}
          />
        )}
      </ListHead>
      <ul className="sessions card" ref={list} aria-label={common.sessions}>
        {edges.map(({ node }) => (
          <SessionRow
            key={node.id}
            session={node}
            facts={node}
            sessionId={node.sessionId}
            isSelected={selected.has(node.sessionId)}
            onSelect={selectRow}
          />
        ))}
      </ul>
      <More hasMore={hasNext} isLoading={isLoadingNext} onMore={() => loadNext(pageSize)} />
    </>
  );
}

const rowsDocument = graphql`
  query sessionListRowsQuery($id: ID!, $filter: SessionFilter, $orderBy: SessionOrder, $count: Int!, $cursor: String)
  @throwOnFieldError {
    organization(id: $id) {
      sessions(first: $count, after: $cursor, filter: $filter, orderBy: $orderBy) {
        edges {
          node {
            id
            sessionId
            createdAt
            updatedAt
            pendingQuestion {
              id
            }
            ...sessionRow_session
            ...sessionFacts_session
          }
        }
        pageInfo {
          endCursor
          hasNextPage
        }
      }
    }
  }
`;

/** The field of a row that each order is by. */
const sortFields = { newest: 'createdAt', updated: 'updatedAt' } as const satisfies Record<Order, SortField>;

/** The most rows that one request reads. */
const maxRead = 100;
/** The most requests that read the loaded rows again; rows after them stay as they are. */
const maxReads = 10;

/**
 * Keeps the list up to date with one subscription to additions, changes and removals. `isReturned`: its rows are from an earlier
 * visit, and are all read again.
 */
function useLiveSessions(options: {
  readonly organizationId: string;
  readonly filter: Filter;
  readonly order: Order;
  readonly connectionId: string;
  readonly isReturned: boolean;
  /** Called when a session may have come or gone. */
  readonly onResize: () => void;
}) {
  const { organizationId, filter, order, connectionId, isReturned, onResize } = options;
  const by = sortFields[order];
  const variables = useMemo(() => ({ id: organizationId, filter }), [organizationId, filter]);
  const environment = useRelayEnvironment();
  const fetchRows = (count: number, cursor: string | null) =>
    fetchQuery<sessionListRowsQuery>(
      environment,
      rowsDocument,
      { ...variables, orderBy: orders[order], count, cursor },
      { fetchPolicy: 'network-only' },
    ).toPromise();
  type Found = Awaited<ReturnType<typeof fetchRows>>;
  const nodesOf = (found: Found) => found?.organization?.sessions.edges.map(({ node }) => node) ?? [];
  const insertAll = (store: RecordSourceProxy, nodes: readonly { readonly id: string }[]) => {
    for (const { id } of nodes) insertRow(store, connectionId, store.get(id), by);
  };
  // A session created between the read and the subscription is in neither.
  const readNewest = async () => {
    const nodes = nodesOf(await fetchRows(20, null));
    commitLocalUpdate(environment, (store) => insertAll(store, nodes));
  };
  /** Reads all loaded rows again, without losing any: the place in the list stays. */
  const readAgain = async () => {
    let loaded = 0;
    commitLocalUpdate(environment, (store) => {
      loaded = store.get(connectionId)?.getLinkedRecords('edges')?.length ?? 0;
    });
    const nodes: ReturnType<typeof nodesOf>[number][] = [];
    let cursor: string | null = null;
    let isEnd = false;
    for (let n = 0; n < maxReads && !isEnd && nodes.length < Math.max(20, loaded); n++) {
      const found: Found = await fetchRows(maxRead, cursor);
      nodes.push(...nodesOf(found));
      const pageInfo = found?.organization?.sessions.pageInfo;
      cursor = pageInfo?.endCursor ?? null;
      isEnd = pageInfo?.hasNextPage !== true;
    }
    const last = nodes.at(-1)?.[by] ?? '';
    const ids = new Set(nodes.map(({ id }) => id));
    commitLocalUpdate(environment, (store) => {
      keepRows(store, connectionId, (id, at) => ids.has(id) || (!isEnd && at <= last), by);
      insertAll(store, nodes);
    });
  };
  // The list stays if it cannot be read; its live state shows that it may be stale.
  const ignore = () => undefined;
  useLive<sessionListSubscription>({
    subscription: graphql`
      subscription sessionListSubscription($id: ID!, $filter: SessionFilter) {
        sessionChanges(organizationId: $id, filter: $filter) {
          type
          sessionId
          session {
            id
            sessionId
            createdAt
            updatedAt
            pendingQuestion {
              id
            }
            ...sessionRow_session
            ...sessionFacts_session
          }
        }
      }
    `,
    variables,
    updater: (store, data) => {
      const change = data?.sessionChanges;
      if (!change) return;
      if (change.type !== 'UPDATED') onResize();
      if (change.type === 'LEFT' || change.type === 'REMOVED') removeRow(store, connectionId, change.sessionId);
      else insertRow(store, connectionId, store.getRootField('sessionChanges')?.getLinkedRecord('session'), by);
    },
    onStanding: () => void (isReturned ? readAgain() : readNewest()).catch(ignore),
    onBack: () => {
      onResize();
      void readAgain().catch(ignore);
    },
  });
}
