import { useState } from 'react';
import { fetchQuery, graphql, useLazyLoadQuery, usePaginationFragment, useRelayEnvironment } from 'react-relay';
import type {
  auditPage_organization$data,
  auditPage_organization$key,
} from '../../__generated__/auditPage_organization.graphql.ts';
import type { auditPageExportQuery } from '../../__generated__/auditPageExportQuery.graphql.ts';
import type { auditPagePaginationQuery } from '../../__generated__/auditPagePaginationQuery.graphql.ts';
import type { AuditAction, auditPageQuery } from '../../__generated__/auditPageQuery.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { Page } from '../../layout/page.tsx';
import { Button } from '../../ui/button.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { JsonTree } from '../../ui/json-tree.tsx';
import { Empty } from '../../ui/states.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { List } from '../kit/kit.ts';
import { csvOf, save } from '../kit/save.ts';
import { auditActions } from './audit-actions.ts';

type Entry = auditPage_organization$data['auditLog']['edges'][number]['node'];

interface Filter {
  readonly action: string;
  readonly from: string;
  readonly to: string;
}

const dayMs = 24 * 60 * 60 * 1_000;
const wordsOf = (action: string) => action.toLowerCase().replaceAll('_', ' ');

// Days are those of UTC, both counted.
const filterOf = ({ action, from, to }: Filter) => ({
  actions: action ? [action as AuditAction] : null,
  createdAfter: from ? new Date(`${from}T00:00:00Z`).toISOString() : null,
  createdBefore: to ? new Date(Date.parse(`${to}T00:00:00Z`) + dayMs).toISOString() : null,
});

/** `/manage/audit-log`: who did what in the organization, and when. */
export function AuditPage() {
  const { organization } = useSigned();
  const [filter, setFilter] = useState<Filter>({ action: '', from: '', to: '' });
  const id = organization?.organizationId ?? '';
  const found = useLazyLoadQuery<auditPageQuery>(
    graphql`
      query auditPageQuery($id: ID!, $filter: AuditLogFilter) {
        organization(id: $id) {
          ...auditPage_organization @arguments(filter: $filter)
        }
      }
    `,
    { id, filter: filterOf(filter) },
    { fetchPolicy: 'store-and-network' },
  );
  if (!found.organization) return <Empty title="There is no organization" />;
  const set = (change: Partial<Filter>) => setFilter({ ...filter, ...change });
  return (
    <Page title="Audit log" actions={<Exports organizationId={id} filter={filter} />}>
      <div className="tool-row">
        <Select label="What was done" value={filter.action} onChange={({ target }) => set({ action: target.value })}>
          <option value="">Anything</option>
          {auditActions.map((action) => (
            <option value={action} key={action}>
              {wordsOf(action)}
            </option>
          ))}
        </Select>
        <TextField
          label="From"
          type="date"
          value={filter.from}
          onChange={({ target }) => set({ from: target.value })}
        />
        <TextField label="To" type="date" value={filter.to} onChange={({ target }) => set({ to: target.value })} />
      </div>
      <Entries organization={found.organization} />
    </Page>
  );
}

function Entries({ organization }: { readonly organization: auditPage_organization$key }) {
  const { data, hasNext, isLoadingNext, loadNext } = usePaginationFragment<
    auditPagePaginationQuery,
    auditPage_organization$key
  >(
    graphql`
      fragment auditPage_organization on Organization
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
    { label: 'When', cell: ({ createdAt }) => <Time at={createdAt} /> },
    { label: 'Who', cell: ({ actorName }) => actorName ?? <span className="soft">a key, or the service</span> },
    {
      label: 'What',
      cell: ({ action, targetId }) => (
        <div>
          {action ? wordsOf(action) : 'something of a later version'}
          {targetId && <span className="under">{targetId}</span>}
        </div>
      ),
    },
    { label: 'From', cell: ({ address }) => address && <code>{address}</code> },
    {
      label: 'More',
      cell: ({ data: more }) =>
        more && typeof more === 'object' && Object.keys(more).length > 0 ? <JsonTree value={more} depth={2} /> : null,
    },
  ];
  return (
    <List
      label="Audit log"
      columns={columns}
      edges={data.auditLog.edges}
      keyOf={({ id }) => id}
      empty={{ title: 'Nothing fits', text: 'Nothing like that was done.' }}
      hasMore={hasNext}
      isLoading={isLoadingNext}
      onMore={() => loadNext(50)}
    />
  );
}

/** The most that one export has: a browser keeps all of it in memory. */
const mostEntries = 50_000;

function Exports({ organizationId, filter }: { readonly organizationId: string; readonly filter: Filter }) {
  const environment = useRelayEnvironment();
  const toasts = useToasts();
  const [count, setCount] = useState<number | null>(null);
  const readAll = async () => {
    type Log = NonNullable<auditPageExportQuery['response']['organization']>['auditLog'];
    const all: Log['nodes'][number][] = [];
    let after: string | null = null;
    do {
      setCount(all.length);
      const answer: auditPageExportQuery['response'] | undefined = await fetchQuery<auditPageExportQuery>(
        environment,
        graphql`
          query auditPageExportQuery($id: ID!, $filter: AuditLogFilter, $after: String) {
            organization(id: $id) {
              auditLog(first: 100, after: $after, filter: $filter) {
                nodes {
                  auditLogId
                  createdAt
                  action
                  actorName
                  apiKeyId
                  address
                  organizationId
                  targetId
                  data
                }
                pageInfo {
                  hasNextPage
                  endCursor
                }
              }
            }
          }
        `,
        { id: organizationId, filter: filterOf(filter), after },
        { networkCacheConfig: { force: true } },
      ).toPromise();
      const page: Log | undefined = answer?.organization?.auditLog;
      all.push(...(page?.nodes ?? []));
      after = page?.pageInfo.hasNextPage ? (page.pageInfo.endCursor ?? null) : null;
    } while (after !== null && all.length < mostEntries);
    return { all, isCut: after !== null };
  };
  const run = async (format: 'csv' | 'json') => {
    try {
      const { all, isCut } = await readAll();
      const rows = all.map(({ data, ...entry }) => ({ ...entry, data: JSON.stringify(data) }));
      if (format === 'csv') save('audit-log.csv', 'text/csv', csvOf(csvColumns, rows));
      else save('audit-log.json', 'application/json', `${JSON.stringify(all, null, 2)}\n`);
      toasts.say(`${all.length} entries are saved.`);
      if (isCut) toasts.fail(`Only the last ${mostEntries.toLocaleString('en')} are there: choose fewer days.`);
    } catch (error) {
      toasts.fail((error as Error).message);
    } finally {
      setCount(null);
    }
  };
  return (
    <>
      {count !== null && (
        <p className="soft" role="status">
          {count} read
        </p>
      )}
      <Button disabled={count !== null} onClick={() => void run('csv')}>
        Export CSV
      </Button>
      <Button disabled={count !== null} onClick={() => void run('json')}>
        Export JSON
      </Button>
    </>
  );
}

const csvColumns = [
  'auditLogId',
  'createdAt',
  'action',
  'actorName',
  'apiKeyId',
  'address',
  'organizationId',
  'targetId',
  'data',
] as const;
