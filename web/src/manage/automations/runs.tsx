import { graphql, usePaginationFragment } from 'react-relay';
import { Link } from 'wouter';
import type { runs_automation$data, runs_automation$key } from '../../__generated__/runs_automation.graphql.ts';
import type { runsPaginationQuery } from '../../__generated__/runsPaginationQuery.graphql.ts';
import { sessionAddress } from '../../session/address.ts';
import { runs as texts } from '../../texts/automations.ts';
import { common } from '../../texts/common.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { safeAddress } from '../../ui/safe-address.ts';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { visible } from '../../ui/visible.ts';
import { eventLabel, runLabel, runTone } from './labels.ts';

type Run = runs_automation$data['runs']['edges'][number]['node'];

const columns: readonly Column<Run>[] = [
  { label: common.time, cell: ({ createdAt, scheduledFor }) => <Time at={scheduledFor ?? createdAt} /> },
  {
    label: common.trigger,
    cell: ({ eventType, trigger }) => (
      <div>
        {eventLabel(eventType)}
        <Subject trigger={trigger} />
      </div>
    ),
  },
  {
    label: common.status,
    cell: ({ status, error }) => (
      <div>
        <Badge tone={runTone(status)}>{runLabel(status)}</Badge>
        {error && <span className="under">{error.message}</span>}
      </div>
    ),
  },
  {
    label: common.session,
    cell: ({ sessionId, session }) =>
      sessionId && <Link href={sessionAddress(sessionId)}>{session?.title ?? common.session}</Link>,
  },
];

/** The issue or the pull request at the forge that caused a run. */
function Subject({ trigger }: { readonly trigger: unknown }) {
  const { url, number, repository } = (trigger ?? {}) as Readonly<Record<string, unknown>>;
  const address = typeof url === 'string' ? safeAddress(url) : undefined;
  if (address === undefined || typeof number !== 'number' || typeof repository !== 'string') return null;
  return (
    <a className="under" href={address} target="_blank" rel="noreferrer">
      {visible(repository)}#{number}
    </a>
  );
}

/** The runs of an automation, newest first. */
export function Runs({ automation }: { readonly automation: runs_automation$key }) {
  const { data, hasNext, isLoadingNext, loadNext } = usePaginationFragment<runsPaginationQuery, runs_automation$key>(
    graphql`
      fragment runs_automation on Automation
      @refetchable(queryName: "runsPaginationQuery")
      @argumentDefinitions(count: { type: "Int", defaultValue: 20 }, cursor: { type: "String" }) {
        runs(first: $count, after: $cursor) @connection(key: "runs_runs") {
          edges {
            node {
              id
              status
              eventType
              trigger
              createdAt
              scheduledFor
              sessionId
              session {
                title
              }
              error {
                message
              }
            }
          }
        }
      }
    `,
    automation,
  );
  const { edges } = data.runs;
  if (edges.length === 0) return <p className="soft">{texts.noRunsYet}</p>;
  return (
    <>
      <Table label={texts.runs} columns={columns} rows={edges.map(({ node }) => node)} keyOf={({ id }) => id} />
      {hasNext && (
        <Button isBusy={isLoadingNext} onClick={() => loadNext(20)}>
          {texts.showEarlierRuns}
        </Button>
      )}
    </>
  );
}
