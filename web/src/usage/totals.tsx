import type { ReactNode } from 'react';
import { graphql, useFragment } from 'react-relay';
import type { totals_metrics$key } from '../__generated__/totals_metrics.graphql.ts';
import { usageTotals as texts } from '../texts/usage.ts';
import { writeChange, writeNumber } from '../ui/number.ts';

const fragment = graphql`
  fragment totals_metrics on Metrics {
    activeUserCount
    sessions {
      count
      averageAcus
    }
    pullRequests {
      createdCount
      mergedCount
    }
  }
`;

interface TotalsProps {
  readonly acus: number;
  readonly metrics: totals_metrics$key;
  /** The same of the previous period; null: not compared. */
  readonly acusBefore: number | null;
  readonly metricsBefore: totals_metrics$key | null;
}

/** The sums of the period, with their change from the previous one. */
export function Totals({ acus, metrics, acusBefore, metricsBefore }: TotalsProps) {
  const now = useFragment(fragment, metrics);
  const before = useFragment(fragment, metricsBefore);
  const { activeUserCount, sessions, pullRequests } = now;
  const totals: readonly (readonly [label: string, value: number | null, before: number | null, more?: ReactNode])[] = [
    [texts.acus, acus, acusBefore],
    [texts.sessions, sessions.count, before?.sessions.count ?? null, texts.sessionsHint],
    [
      texts.acusPerSession,
      sessions.averageAcus ?? null,
      before?.sessions.averageAcus ?? null,
      texts.acusPerSessionHint,
    ],
    [
      texts.activeUsers,
      activeUserCount,
      before?.activeUserCount ?? null,
      activeUserCount === 0 && sessions.count > 0 && texts.onlyServiceUsers,
    ],
    [
      texts.pullRequests,
      pullRequests.createdCount,
      before?.pullRequests.createdCount ?? null,
      texts.merged({ count: writeNumber(pullRequests.mergedCount) }),
    ],
  ];
  return (
    <dl className="totals">
      {totals.map(([label, value, valueBefore, more]) => (
        <div className="card" key={label}>
          <dt>{label}</dt>
          <dd>
            {value === null ? texts.none : writeNumber(value)}
            {more && <small>{more}</small>}
            {valueBefore !== null && (value || valueBefore) !== 0 && (
              <small>{changeText(value ?? 0, valueBefore)}</small>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function changeText(now: number, before: number): string {
  const written = writeNumber(before);
  if (before === 0) return texts.before({ before: written });
  return texts.change({ percent: writeChange((now - before) / before), before: written });
}
