import { graphql, useLazyLoadQuery } from 'react-relay';
import type { enterpriseUsageQuery } from '../__generated__/enterpriseUsageQuery.graphql.ts';
import { Empty } from '../ui/states.tsx';
import { Figures } from './figures.tsx';

/** The usage of all organizations together, and of each. */
export function EnterpriseUsage({ from, to }: { readonly from: string; readonly to: string }) {
  const { enterprise } = useLazyLoadQuery<enterpriseUsageQuery>(
    graphql`
      query enterpriseUsageQuery($from: Date!, $to: Date!) {
        enterprise {
          consumption(from: $from, to: $to) {
            ...figures_consumption
          }
          metrics(from: $from, to: $to) {
            ...figures_metrics
          }
        }
      }
    `,
    { from, to },
    { fetchPolicy: 'store-and-network' },
  );
  if (!enterprise?.consumption || !enterprise.metrics)
    return <Empty title="No access to usage" text="You need an enterprise role to view this page." />;
  return (
    <Figures consumption={enterprise.consumption} metrics={enterprise.metrics} from={from} to={to} hasOrganizations />
  );
}
