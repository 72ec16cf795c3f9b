import { Suspense, useDeferredValue } from 'react';
import { graphql, useLazyLoadQuery, usePaginationFragment } from 'react-relay';
import type {
  auditPage_organization$data,
  auditPage_organization$key,
} from '../../__generated__/auditPage_organization.graphql.ts';
import type { auditPagePaginationQuery } from '../../__generated__/auditPagePaginationQuery.graphql.ts';
import type { auditPageQuery } from '../../__generated__/auditPageQuery.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { Page } from '../../layout/page.tsx';
import { useUrlParams } from '../../layout/use-url-params.ts';
import { auditPage as texts } from '../../texts/audit.ts';
import { common } from '../../texts/common.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorBoundary } from '../../ui/error-boundary.tsx';
import { TextField } from '../../ui/field.tsx';
import { JsonTree } from '../../ui/json-tree.tsx';
import { Picker } from '../../ui/picker.tsx';
import { Empty, Loading } from '../../ui/states.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { fixedChoices } from '../../ui/use-choices.ts';
import { List } from '../kit/kit.ts';
import { auditActions } from './audit-actions.ts';
import { AuditExport } from './audit-export.tsx';
import { type AuditFilter, filterNames, filterOf } from './audit-filter.ts';
import { useActorChoices } from './use-actor-choices.ts';

const actionText = (action: string) => {
  const text = action
    .toLowerCase()
    .replaceAll('_', ' ')
    .replace(/\borg\b/, 'organization')
    .replace(/\bapi\b/, 'API');
  return text.charAt(0).toUpperCase() + text.slice(1);
};
const actions = fixedChoices(auditActions.map((action) => ({ value: action, label: actionText(action) })));

type Entry = auditPage_organization$data['auditLog']['edges'][number]['node'];

/** `/manage/audit-log`: the audit log of the organization. */
export function AuditPage() {
  const { organization } = useSigned();
  const { values, isAny, change, clear } = useUrlParams(filterNames);
  // The current entries stay, dimmed, until the new ones arrive.
  const shown = useDeferredValue(values);
  const id = organization?.organizationId ?? '';
  const actors = useActorChoices(id);
  if (!organization) return <Empty title={common.noOrganization} />;
  return (
    <Page title={texts.auditLog} actions={<AuditExport organizationId={id} filter={values} />}>
      <search className="tool-row">
        <Picker
          label={texts.actor}
          none={texts.anyone}
          source={actors}
          value={values.by}
          onChange={(by) => change({ by })}
        />
        <Picker
          label={texts.action}
          none={texts.anyAction}
          source={actions}
          value={values.action}
          onChange={(action) => change({ action })}
        />
        <TextField
          label={texts.from}
          type="date"
          value={values.from}
          onChange={({ target }) => change({ from: target.value })}
        />
        <TextField
          label={texts.to}
          type="date"
          value={values.to}
          onChange={({ target }) => change({ to: target.value })}
        />
        {isAny && (
          <Button tone="quiet" icon="close" onClick={clear}>
            {texts.clear}
          </Button>
        )}
      </search>
      <ErrorBoundary resetKey={JSON.stringify(shown)}>
        <Suspense fallback={<Loading label={texts.loadingTheAuditLog} />}>
          <div className={shown === values ? undefined : 'stale'}>
            <Log organizationId={id} filter={shown} />
          </div>
        </Suspense>
      </ErrorBoundary>
    </Page>
  );
}

function Log({ organizationId, filter }: { readonly organizationId: string; readonly filter: AuditFilter }) {
  const found = useLazyLoadQuery<auditPageQuery>(
    graphql`
      query auditPageQuery($id: ID!, $filter: AuditLogFilter) {
        organization(id: $id) {
          ...auditPage_organization @arguments(filter: $filter)
        }
      }
    `,
    { id: organizationId, filter: filterOf(filter) },
    { fetchPolicy: 'store-and-network' },
  );
  if (!found.organization) return <Empty title={common.noOrganization} />;
  return <Entries organization={found.organization} />;
}

function Entries({ organization }: { readonly organization: auditPage_organization$key }) {
  const { data, hasNext, isLoadingNext, loadNext } = usePaginationFragment<
    auditPagePaginationQuery,
    auditPage_organization$key
  >(
    graphql`
      fragment auditPage_organization on Organization
      @throwOnFieldError
      @refetchable(queryName: "auditPagePaginationQuery")
      @argumentDefinitions(
        filter: { type: "AuditLogFilter" }
        count: { type: "Int", defaultValue: 50 }
        cursor: { type: "String" }
      ) {
        auditLog(first: $count, after: $cursor, filter: $filter)
          @connection(key: "auditPage_auditLog", filters: ["filter"]) {
          edges {
            node {
              id
              action
              actorName
              address
              createdAt
              targetId
              data
            }
          }
        }
      }
    `,
    organization,
  );
  const columns: readonly Column<Entry>[] = [
    { label: common.time, cell: ({ createdAt }) => <Time at={createdAt} /> },
    { label: texts.actor, cell: ({ actorName }) => actorName ?? <span className="soft">{texts.keyOrService}</span> },
    {
      label: texts.action,
      cell: ({ action, targetId }) => (
        <div>
          {action ? actionText(action) : texts.unknownAction}
          {targetId && <span className="under">{targetId}</span>}
        </div>
      ),
    },
    { label: texts.ipAddress, cell: ({ address }) => address && <code>{address}</code> },
    {
      label: texts.details,
      cell: ({ data: more }) =>
        more && typeof more === 'object' && Object.keys(more).length > 0 ? <JsonTree value={more} depth={2} /> : null,
    },
  ];
  return (
    <List
      label={texts.auditLog}
      columns={columns}
      edges={data.auditLog.edges}
      keyOf={({ id }) => id}
      empty={{ title: common.noMatches, text: texts.noMatchesText }}
      hasMore={hasNext}
      isLoading={isLoadingNext}
      onMore={() => loadNext(50)}
    />
  );
}
