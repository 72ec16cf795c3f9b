import type { ReactNode } from 'react';
import { graphql, useFragment } from 'react-relay';
import type { totals_consumption$key } from '../__generated__/totals_consumption.graphql.ts';
import type { totals_metrics$key } from '../__generated__/totals_metrics.graphql.ts';
import { acus as acuTexts } from '../texts/acus.ts';
import { usageTotals as texts } from '../texts/usage.ts';
import { InfoTip } from '../ui/info-tip.tsx';
import { writeUsd } from '../ui/money.ts';
import { writeChange, writeNumber } from '../ui/number.ts';

const consumptionFragment = graphql`
  fragment totals_consumption on Consumption {
    totalAcus
    totalCostUsd
  }
`;

const metricsFragment = graphql`
  fragment totals_metrics on Metrics {
    activeUserCount
    sessions {
      count
    }
    pullRequests {
      createdCount
      mergedCount
    }
  }
`;

interface TotalsProps {
  readonly consumption: totals_consumption$key;
  readonly metrics: totals_metrics$key;
  /** The same of the previous period; null: not compared. */
  readonly consumptionBefore: totals_consumption$key | null | undefined;
  readonly metricsBefore: totals_metrics$key | null | undefined;
}

interface Total {
  readonly label: string;
  readonly value: number | null;
  readonly before: number | null;
  readonly hint?: string;
  readonly tip?: ReactNode;
  readonly write?: (value: number) => string;
}

const tip = <InfoTip label={acuTexts.question} text={acuTexts.explanation} />;

/** The sums of the period, with their change from the previous one. */
export function Totals(props: TotalsProps) {
  const used = useFragment(consumptionFragment, props.consumption);
  const usedBefore = useFragment(consumptionFragment, props.consumptionBefore ?? null);
  const metrics = useFragment(metricsFragment, props.metrics);
  const metricsBefore = useFragment(metricsFragment, props.metricsBefore ?? null);
  const { activeUserCount, sessions, pullRequests } = metrics;
  const hasCost = used.totalCostUsd > 0 || (usedBefore?.totalCostUsd ?? 0) > 0;
  const perSession = (acus: number, count: number) => (count === 0 ? null : acus / count);
  const totals: readonly Total[] = [
    { label: acuTexts.name, value: used.totalAcus, before: usedBefore?.totalAcus ?? null, tip },
    ...(hasCost
      ? [
          {
            label: texts.cost,
            value: used.totalCostUsd,
            before: usedBefore?.totalCostUsd ?? null,
            hint: texts.costHint,
            write: writeUsd,
          },
        ]
      : []),
    { label: texts.sessions, value: sessions.count, before: metricsBefore?.sessions.count ?? null },
    {
      label: texts.acusPerSession,
      value: perSession(used.totalAcus, sessions.count),
      before: usedBefore && metricsBefore ? perSession(usedBefore.totalAcus, metricsBefore.sessions.count) : null,
      hint: texts.acusPerSessionHint,
    },
    // Where only service users start sessions, it would be 0 beside their sessions.
    ...(activeUserCount + (metricsBefore?.activeUserCount ?? 0) > 0
      ? [
          {
            label: texts.activePeople,
            value: activeUserCount,
            before: metricsBefore?.activeUserCount ?? null,
            hint: texts.activePeopleHint,
          },
        ]
      : []),
    {
      label: texts.pullRequests,
      value: pullRequests.createdCount,
      before: metricsBefore?.pullRequests.createdCount ?? null,
      hint: texts.merged({ count: writeNumber(pullRequests.mergedCount) }),
    },
  ];
  return (
    <dl className="totals">
      {totals.map(({ label, value, before, hint, tip: more, write = writeNumber }) => (
        <div className="card" key={label}>
          <dt>
            {label} {more}
          </dt>
          <dd>
            {value === null ? texts.none : write(value)}
            {hint && <small>{hint}</small>}
            {before !== null && (value || before) !== 0 && <small>{changeText(value ?? 0, before, write)}</small>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** A placeholder for the sums, as high as they are. */
export function TotalsPlaceholder() {
  return (
    <div className="totals" aria-hidden="true">
      {Array.from({ length: 5 }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: these are all alike.
        <div className="card" key={index} />
      ))}
    </div>
  );
}

function changeText(now: number, before: number, write: (value: number) => string): string {
  const written = write(before);
  if (before === 0) return texts.before({ before: written });
  return texts.change({ percent: writeChange((now - before) / before), before: written });
}
