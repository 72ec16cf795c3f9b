import { useState } from 'react';
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay';
import type { auditExportQuery } from '../../__generated__/auditExportQuery.graphql.ts';
import { auditExport as texts } from '../../texts/audit.ts';
import { Button } from '../../ui/button.tsx';
import { writeNumber } from '../../ui/number.ts';
import { useToasts } from '../../ui/toasts.tsx';
import { csvOf, save } from '../kit/save.ts';
import { type AuditFilter, filterOf } from './audit-filter.ts';

/** The maximum number of entries in one export: the browser keeps them in memory. */
const maxEntries = 50_000;

/** Buttons that save all entries of the filter to a file. */
export function AuditExport({
  organizationId,
  filter,
}: {
  readonly organizationId: string;
  readonly filter: AuditFilter;
}) {
  const environment = useRelayEnvironment();
  const toasts = useToasts();
  const [count, setCount] = useState<number | null>(null);
  const readAll = async () => {
    type Log = NonNullable<auditExportQuery['response']['enterprise']>['auditLog'];
    const all: Log['nodes'][number][] = [];
    let after: string | null = null;
    do {
      setCount(all.length);
      const answer: auditExportQuery['response'] | undefined = await fetchQuery<auditExportQuery>(
        environment,
        graphql`
          query auditExportQuery($id: ID!, $isEnterprise: Boolean!, $filter: AuditLogFilter, $after: String)
          @throwOnFieldError {
            organization(id: $id) @skip(if: $isEnterprise) {
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
            enterprise @include(if: $isEnterprise) {
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
        { id: organizationId, isEnterprise: filter.scope === '', filter: filterOf(filter), after },
        { networkCacheConfig: { force: true } },
      ).toPromise();
      const page: Log | undefined = (answer?.enterprise ?? answer?.organization)?.auditLog;
      all.push(...(page?.nodes ?? []));
      after = page?.pageInfo.hasNextPage ? (page.pageInfo.endCursor ?? null) : null;
    } while (after !== null && all.length < maxEntries);
    return { all, isCut: after !== null };
  };
  const run = async (format: 'csv' | 'json') => {
    try {
      const { all, isCut } = await readAll();
      const rows = all.map(({ data, ...entry }) => ({ ...entry, data: JSON.stringify(data) }));
      if (format === 'csv') save('audit-log.csv', 'text/csv', csvOf(csvColumns, rows));
      else save('audit-log.json', 'application/json', `${JSON.stringify(all, null, 2)}\n`);
      toasts.say(texts.exported({ count: all.length }));
      if (isCut) toasts.fail(texts.exportCut({ limit: writeNumber(maxEntries) }));
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
          {texts.entriesRead({ count })}
        </p>
      )}
      <Button disabled={count !== null} onClick={() => void run('csv')}>
        {texts.exportCsv}
      </Button>
      <Button disabled={count !== null} onClick={() => void run('json')}>
        {texts.exportJson}
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
