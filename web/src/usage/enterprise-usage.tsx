import type { ReactNode } from 'react';
import { graphql, useLazyLoadQuery } from 'react-relay';
import type { enterpriseUsageQuery } from '../__generated__/enterpriseUsageQuery.graphql.ts';
import { useSigned } from '../app/gate.tsx';
import { usageAccess as texts } from '../texts/usage.ts';
import { Empty } from '../ui/states.tsx';
import { Budget } from './budget.tsx';
import { type Days, daysBefore, thisMonth } from './days.ts';
import { Figures } from './figures.tsx';
import { Totals } from './totals.tsx';

interface EnterpriseUsageProps {
  readonly days: Days;
  readonly compares: boolean;
  /** The sessions of a day and those of a principal, each where {@link Figures} puts it. */
  readonly ofDay: ReactNode;
  readonly ofPrincipal: ReactNode;
}

/** The usage of all organizations together, and of each. */
export function EnterpriseUsage({ days, compares, ofDay, ofPrincipal }: EnterpriseUsageProps) {
  const { may } = useSigned();
  const [earlier, month] = [daysBefore(days), thisMonth()];
  const { enterprise } = useLazyLoadQuery<enterpriseUsageQuery>(
    graphql`
      query enterpriseUsageQuery(
        $from: Date!
        $to: Date!
        $compares: Boolean!
        $fromBefore: Date!
        $toBefore: Date!
        $seesLimit: Boolean!
        $cycleFrom: Date!
        $cycleTo: Date!
      ) {
        enterprise {
          consumption(from: $from, to: $to) {
            ...figures_consumption
            ...totals_consumption
          }
          metrics(from: $from, to: $to) {
            ...figures_metrics
            ...totals_metrics
          }
          consumptionBefore: consumption(from: $fromBefore, to: $toBefore) @include(if: $compares) {
            ...totals_consumption
            days {
              date
              acus
            }
          }
          metricsBefore: metrics(from: $fromBefore, to: $toBefore) @include(if: $compares) {
            ...totals_metrics
          }
          maxCycleAcuLimit @include(if: $seesLimit)
          cycle: consumption(from: $cycleFrom, to: $cycleTo) @include(if: $seesLimit) {
            days {
              date
              acus
            }
          }
        }
      }
    `,
    {
      ...days,
      compares,
      fromBefore: earlier.from,
      toBefore: earlier.to,
      seesLimit: may('MANAGE_BILLING'),
      cycleFrom: month.from,
      cycleTo: month.to,
    },
    { fetchPolicy: 'store-and-network' },
  );
  if (!enterprise?.consumption || !enterprise.metrics) return <Empty title={texts.title} text={texts.enterpriseText} />;
  const { consumption, consumptionBefore, metrics, metricsBefore, maxCycleAcuLimit, cycle } = enterprise;
  return (
    <>
      <Totals {...{ consumption, consumptionBefore, metrics, metricsBefore }} />
      {maxCycleAcuLimit != null && cycle && <Budget limit={maxCycleAcuLimit} days={cycle.days} />}
      <Figures
        {...{ consumption, metrics, days }}
        daysBefore={consumptionBefore?.days ?? null}
        hasOrganizations
        {...{ ofDay, ofPrincipal }}
      />
    </>
  );
}
