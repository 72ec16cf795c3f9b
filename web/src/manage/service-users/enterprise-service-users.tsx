import { graphql, useLazyLoadQuery, usePaginationFragment } from 'react-relay';
import type {
  enterpriseServiceUsers_enterprise$data,
  enterpriseServiceUsers_enterprise$key,
} from '../../__generated__/enterpriseServiceUsers_enterprise.graphql.ts';
import type { enterpriseServiceUsersPaginationQuery } from '../../__generated__/enterpriseServiceUsersPaginationQuery.graphql.ts';
import type { enterpriseServiceUsersQuery } from '../../__generated__/enterpriseServiceUsersQuery.graphql.ts';
import { common } from '../../texts/common.ts';
import { enterpriseServiceUsers as texts } from '../../texts/service-users.ts';
import { More } from '../../ui/more.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { nameColumn, timeColumns } from './columns.tsx';

type ServiceUser = enterpriseServiceUsers_enterprise$data['serviceUsers']['edges'][number]['node'];

/** The service users with a role in the enterprise. Their keys are on their pages. Needs MANAGE_ACCOUNT_SERVICE_USERS. */
export function EnterpriseServiceUsers() {
  const { enterprise } = useLazyLoadQuery<enterpriseServiceUsersQuery>(
    graphql`
      query enterpriseServiceUsersQuery {
        enterprise {
          ...enterpriseServiceUsers_enterprise
        }
      }
    `,
    {},
    { fetchPolicy: 'store-and-network' },
  );
  return enterprise && <ServiceUsers enterprise={enterprise} />;
}

function ServiceUsers({ enterprise }: { readonly enterprise: enterpriseServiceUsers_enterprise$key }) {
  const { data, hasNext, isLoadingNext, loadNext } = usePaginationFragment<
    enterpriseServiceUsersPaginationQuery,
    enterpriseServiceUsers_enterprise$key
  >(
    graphql`
      fragment enterpriseServiceUsers_enterprise on Enterprise
      @throwOnFieldError
      @refetchable(queryName: "enterpriseServiceUsersPaginationQuery")
      @argumentDefinitions(count: { type: "Int", defaultValue: 50 }, cursor: { type: "String" }) {
        serviceUsers(first: $count, after: $cursor) @connection(key: "enterpriseServiceUsers_serviceUsers") {
          edges {
            node {
              id
              serviceUserId
              displayName
              createdAt
              expiresAt
              roleAssignments(first: 20) {
                nodes {
                  organizationId
                  role {
                    name
                  }
                }
              }
            }
          }
        }
      }
    `,
    enterprise,
  );
  const rows = data.serviceUsers.edges.map(({ node }) => node).filter((node) => roleOf(node) !== undefined);
  if (rows.length === 0 && !hasNext) return null;
  return (
    <section className="card sheet" aria-labelledby="enterprise-service-users">
      <header>
        <h2 id="enterprise-service-users">{texts.enterpriseTitle}</h2>
      </header>
      {rows.length > 0 && <Table label={texts.enterpriseTitle} columns={columns} rows={rows} keyOf={({ id }) => id} />}
      <More hasMore={hasNext} isLoading={isLoadingNext} onMore={() => loadNext(50)} />
    </section>
  );
}

// The list also has the service users of all organizations.
const roleOf = ({ roleAssignments }: ServiceUser) =>
  roleAssignments.nodes.find(({ organizationId }) => organizationId === null)?.role.name;

const columns: readonly Column<ServiceUser>[] = [
  nameColumn,
  { label: common.enterpriseRole, cell: (serviceUser) => roleOf(serviceUser) },
  ...timeColumns,
];
