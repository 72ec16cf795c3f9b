import { common } from '../texts/common.ts';
import { sessionsPage as texts } from '../texts/sessions.ts';
import './sessions.css';
import { Suspense, useCallback, useDeferredValue, useMemo, useState } from 'react';
import { graphql, useLazyLoadQuery } from 'react-relay';
import { useSearchParams } from 'wouter';
import type { sessionsPageQuery } from '../__generated__/sessionsPageQuery.graphql.ts';
import { useSigned } from '../app/gate.tsx';
import { Page } from '../layout/page.tsx';
import { useUrlParams } from '../layout/use-url-params.ts';
import { Button } from '../ui/button.tsx';
import { ErrorBoundary } from '../ui/error-boundary.tsx';
import { Empty, Loading } from '../ui/states.tsx';
import { FilterBar } from './filter-bar.tsx';
import { type Filter, isArchive, useFilters } from './filters.ts';
import { FoundSessions } from './found-sessions.tsx';
import { isListKept, useListPosition } from './list-position.ts';
import { NewSession } from './new-session.tsx';
import { SessionList } from './session-list.tsx';
import { orderOf, orders, sortNames } from './session-order.ts';
import { useSavedViews } from './views/use-saved-views.ts';

const query = graphql`
  query sessionsPageQuery(
    $id: ID!
    $filter: SessionFilter
    $query: String!
    $isSearch: Boolean!
    $orderBy: SessionOrder
  ) {
    organization(id: $id) {
      id
      ...sessionList_organization @arguments(filter: $filter, orderBy: $orderBy) @skip(if: $isSearch) @alias(as: "list")
      ...foundSessions_organization @arguments(query: $query, filter: $filter) @include(if: $isSearch) @alias(as: "found")
    }
  }
`;

/** `/sessions`: the sessions of an organization, by default newest first. */
export function SessionsPage() {
  const { organization, may } = useSigned();
  const [params, setParams] = useSearchParams();
  // In the URL, so that it opens from everywhere and Back closes it.
  const isNew = params.get('new') !== null;
  const open = () => setParams((before) => ({ ...Object.fromEntries(before), new: 'yes' }));
  const close = useCallback(
    () =>
      setParams(
        (before) => {
          const next = new URLSearchParams(before);
          next.delete('new');
          return next;
        },
        { replace: true },
      ),
    [setParams],
  );
  if (organization === null) {
    return (
      <Page title={common.sessions}>
        <Empty title={common.noOrganization} text={texts.noOrganizationText} />
      </Page>
    );
  }
  return (
    <Page
      title={common.sessions}
      actions={
        may('USE_SESSIONS') && (
          <Button tone="primary" icon="plus" onClick={open}>
            {common.newSession}
          </Button>
        )
      }
    >
      <ErrorBoundary resetKey={params.toString()} more={<Clear />}>
        <Suspense fallback={<Loading label={texts.loadingSessions} rows={8} />}>
          <Listed organizationId={organization.organizationId} onNew={open} key={organization.id} />
        </Suspense>
      </ErrorBoundary>
      {isNew && may('USE_SESSIONS') && (
        <NewSession
          organizationId={organization.organizationId}
          repository={params.get('repository') || null}
          playbookId={params.get('playbook') || null}
          onClose={close}
        />
      )}
    </Page>
  );
}

/** Shown when the service does not accept the URL's filter. */
function Clear() {
  const { isNarrowed, clear } = useFilters();
  return isNarrowed && <Button onClick={clear}>{common.clearFilters}</Button>;
}

function Listed({ organizationId, onNew }: { readonly organizationId: string; readonly onNew: () => void }) {
  const { values: listed, change: sort } = useUrlParams(sortNames);
  const order = orderOf(listed.sort);
  const { filters, filter: own, change, clear, isNarrowed } = useFilters();
  const isView = filters.view !== '';
  const view = useSavedViews(isView).find(({ name }) => isView && name === filters.view);
  const filter: Filter = useMemo(
    () => (view ? { ...own, and: [...(own.and ?? []), view.filter as never] } : own),
    [own, view],
  );
  const search = useMemo(
    () => ({ filter, order, query: filters.in ? filters.q : '' }),
    [filter, order, filters.in, filters.q],
  );
  // The current rows stay, dimmed, until the new ones arrive.
  const shown = useDeferredValue(search);
  const variables = useMemo(() => {
    const { filter: conditions, order: by, query: text } = shown;
    return { id: organizationId, filter: conditions, query: text, orderBy: orders[by], isSearch: text !== '' };
  }, [organizationId, shown]);
  // The rows of a list to which the user returns, also those of later pages, are shown as they are and read again by the list.
  const [kept] = useState(() => (isListKept(location.search) ? search : null));
  const isReturned = kept === shown;
  const { organization } = useLazyLoadQuery<sessionsPageQuery>(query, variables, {
    fetchPolicy: isReturned ? 'store-or-network' : 'store-and-network',
  });
  useListPosition(query, variables);
  if (!organization) return <Empty title={texts.organizationNotFound} text={common.mayBeDeleted} />;
  return (
    <>
      <FilterBar {...{ organizationId, filters, filter, isNarrowed }} onChange={change} onClear={clear} />
      <div className={shown === search ? undefined : 'stale'}>
        {organization.found && (
          <FoundSessions
            key={shown.query}
            organization={organization.found}
            organizationId={organizationId}
            query={shown.query}
            isArchived={shown.filter.isArchived}
          />
        )}
        {organization.list && (
          <SessionList
            organization={organization.list}
            organizationId={organizationId}
            filter={shown.filter}
            order={shown.order}
            onSort={(by) => sort({ sort: by === 'newest' ? '' : by })}
            isReturned={isReturned}
            isNarrowed={isNarrowed}
            isArchive={isArchive(filters)}
            onNew={onNew}
            onClear={clear}
            onTranscripts={() => change({ in: 'transcripts' }, { isNewEntry: true })}
          />
        )}
      </div>
    </>
  );
}
