import type { ReactNode } from 'react';
import { graphql, useLazyLoadQuery } from 'react-relay';
import type { organizationUsageQuery } from '../__generated__/organizationUsageQuery.graphql.ts';
import { usageAccess as texts } from '../texts/usage.ts';
import { Empty } from '../ui/states.tsx';
import { Budget } from './budget.tsx';
import { type Days, daysBefore, thisMonth } from './days.ts';
import { Figures } from './figures.tsx';
import { Totals } from './totals.tsx';

interface OrganizationUsageProps {
  readonly organizationId: string;
  readonly days: Days;
  readonly compares: boolean;
  /** The sessions of a day and those of a principal, each where {@link Figures} puts it. */
  readonly ofDay: ReactNode;
  readonly ofPrincipal: ReactNode;
}

/** The usage of one organization. */
export function OrganizationUsage({ organizationId, days, compares, ofDay, ofPrincipal }: OrganizationUsageProps) {
  const [earlier, month] = [daysBefore(days), thisMonth()];
  const { organization } = useLazyLoadQuery<organizationUsageQuery>(
    graphql`
      query organizationUsageQuery(
        $id: ID!
        $from: Date!
        $to: Date!
        $compares: Boolean!
        $fromBefore: Date!
        $toBefore: Date!
        $cycleFrom: Date!
        $cycleTo: Date!
      ) @throwOnFieldError {
        organization(id: $id) {
          maxCycleAcuLimit
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
          cycle: consumption(from: $cycleFrom, to: $cycleTo) {
            days {
              date
              acus
            }
          }
        }
      }
    `,
    {
      id: organizationId,
      ...days,
      compares,
      fromBefore: earlier.from,
      toBefore: earlier.to,
      cycleFrom: month.from,
      cycleTo: month.to,
    },
    { fetchPolicy: 'store-and-network' },
  );
  if (!organization?.metrics) return <Empty title={texts.title} text={texts.organizationText} />;
  const { consumption, consumptionBefore, metrics, metricsBefore, maxCycleAcuLimit, cycle } = organization;
  return (
    <>
      <Totals {...{ consumption, consumptionBefore, metrics, metricsBefore }} />
      {maxCycleAcuLimit != null && <Budget limit={maxCycleAcuLimit} days={cycle.days} />}
      <Figures
        {...{ consumption, metrics, days }}
        daysBefore={consumptionBefore?.days ?? null}
        {...{ ofDay, ofPrincipal }}
      />
    </>
  );
}
