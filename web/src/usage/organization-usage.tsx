import { graphql, useLazyLoadQuery } from 'react-relay';
import type { organizationUsageQuery } from '../__generated__/organizationUsageQuery.graphql.ts';
import { Empty } from '../ui/states.tsx';
import { Figures } from './figures.tsx';

interface OrganizationUsageProps {
  readonly organizationId: string;
  readonly from: string;
  readonly to: string;
}

/** The usage of one organization. */
export function OrganizationUsage({ organizationId, from, to }: OrganizationUsageProps) {
  const { organization } = useLazyLoadQuery<organizationUsageQuery>(
    graphql`
      query organizationUsageQuery($id: ID!, $from: Date!, $to: Date!) @throwOnFieldError {
        organization(id: $id) {
          consumption(from: $from, to: $to) {
            ...figures_consumption
          }
          metrics(from: $from, to: $to) {
            ...figures_metrics
          }
        }
      }
    `,
    { id: organizationId, from, to },
    { fetchPolicy: 'store-and-network' },
  );
  if (!organization?.metrics) return <Empty title="No access to usage" text="You need a role with access to usage." />;
  return <Figures consumption={organization.consumption} metrics={organization.metrics} from={from} to={to} />;
}
