import { type ReactNode, Suspense, useState } from 'react';
import { graphql, useLazyLoadQuery, usePaginationFragment } from 'react-relay';
import { useLocation } from 'wouter';
import type {
  serviceUsersPage_organization$data,
  serviceUsersPage_organization$key,
} from '../../__generated__/serviceUsersPage_organization.graphql.ts';
import type { serviceUsersPageDeleteMutation } from '../../__generated__/serviceUsersPageDeleteMutation.graphql.ts';
import type { serviceUsersPagePaginationQuery } from '../../__generated__/serviceUsersPagePaginationQuery.graphql.ts';
import type { serviceUsersPageQuery } from '../../__generated__/serviceUsersPageQuery.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { Page } from '../../layout/page.tsx';
import { useMutation } from '../../relay/use-mutation.ts';
import { common } from '../../texts/common.ts';
import { serviceUsersPage as texts } from '../../texts/service-users.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/states.tsx';
import type { Column } from '../../ui/table.tsx';
import { actionsColumn, ConfirmAction, List } from '../kit/kit.ts';
import { nameColumn, timeColumns } from './columns.tsx';
import { EnterpriseServiceUsers } from './enterprise-service-users.tsx';
import { Keys } from './keys.tsx';
import { ServiceUserForm } from './service-user-form.tsx';

type ServiceUser = serviceUsersPage_organization$data['serviceUsers']['edges'][number]['node'];

/** `/manage/service-users`: the programs that act in the organization, and their keys. */
export function ServiceUsersPage() {
  const { organization, may } = useSigned();
  const found = useLazyLoadQuery<serviceUsersPageQuery>(
    graphql`
      query serviceUsersPageQuery($id: ID!) {
        organization(id: $id) {
          ...serviceUsersPage_organization
          ...keys_organization
        }
      }
    `,
    { id: organization?.organizationId ?? '' },
    { fetchPolicy: 'store-and-network' },
  );
  if (!organization || !found.organization) return <Empty title={common.noOrganization} />;
  const { organizationId } = organization;
  return (
    <ServiceUsers organization={found.organization} organizationId={organizationId}>
      {may('MANAGE_ACCOUNT_SERVICE_USERS') && <EnterpriseServiceUsers />}
      <Keys organization={found.organization} organizationId={organizationId} />
    </ServiceUsers>
  );
}

interface ServiceUsersProps {
  readonly organization: serviceUsersPage_organization$key;
  readonly organizationId: string;
  readonly children: ReactNode;
}

function ServiceUsers({ organization, organizationId, children }: ServiceUsersProps) {
  const { data, hasNext, isLoadingNext, loadNext } = usePaginationFragment<
    serviceUsersPagePaginationQuery,
    serviceUsersPage_organization$key
  >(
    graphql`
      fragment serviceUsersPage_organization on Organization
      @throwOnFieldError
      @refetchable(queryName: "serviceUsersPagePaginationQuery")
      @argumentDefinitions(count: { type: "Int", defaultValue: 50 }, cursor: { type: "String" }) {
        serviceUsers(first: $count, after: $cursor) @connection(key: "serviceUsersPage_serviceUsers") {
          __id
          edges {
            node {
              id
              serviceUserId
              displayName
              createdAt
              expiresAt
            }
          }
        }
      }
    `,
    organization,
  );
  const [, go] = useLocation();
  const [form, setForm] = useState<ServiceUser | 'new' | null>(null);
  const [leaving, setLeaving] = useState<ServiceUser | null>(null);
  const connections = [data.serviceUsers.__id];
  const [remove] = useMutation<serviceUsersPageDeleteMutation>(graphql`
    mutation serviceUsersPageDeleteMutation($input: DeleteServiceUserInput!, $connections: [ID!]!) {
      deleteServiceUser(input: $input) {
        deletedServiceUserId @deleteEdge(connections: $connections)
        userErrors {
          message
        }
      }
    }
  `);
  const columns: readonly Column<ServiceUser>[] = [
    nameColumn,
    ...timeColumns,
    actionsColumn((serviceUser) => (
      <>
        <Button
          size="small"
          aria-label={common.editName({ name: serviceUser.displayName })}
          onClick={() => setForm(serviceUser)}
        >
          {common.edit}
        </Button>
        <Button
          size="small"
          tone="danger"
          aria-label={common.deleteName({ name: serviceUser.displayName })}
          onClick={() => setLeaving(serviceUser)}
        >
          {common.delete}
        </Button>
      </>
    )),
  ];
  const add = (
    <Button tone="primary" icon="plus" onClick={() => setForm('new')}>
      {texts.newServiceUser}
    </Button>
  );
  return (
    <Page title={texts.serviceUsersAndKeys} actions={add}>
      <div className="sheets">
        <section aria-label={common.serviceUsers}>
          <List
            label={common.serviceUsers}
            columns={columns}
            edges={data.serviceUsers.edges}
            keyOf={({ id }) => id}
            empty={{
              title: texts.noServiceUsersYet,
              text: texts.emptyText,
            }}
            hasMore={hasNext}
            isLoading={isLoadingNext}
            onMore={() => loadNext(50)}
          />
        </section>
        {children}
      </div>
      <Suspense fallback={null}>
        {form && (
          <ServiceUserForm
            organizationId={organizationId}
            serviceUser={form === 'new' ? null : form}
            connections={connections}
            onClose={() => setForm(null)}
            // A service user is of no use without a key, which its page creates.
            onCreated={(id) => go(`/manage/service-users/${id}`)}
          />
        )}
      </Suspense>
      {leaving && (
        <ConfirmAction
          title={common.deleteNameTitle({ name: leaving.displayName })}
          text={texts.deleteText}
          confirmLabel={common.delete}
          successMessage={common.deletedName({ name: leaving.displayName })}
          run={() => remove({ input: { serviceUserId: leaving.serviceUserId }, connections })}
          onClose={() => setLeaving(null)}
        />
      )}
    </Page>
  );
}
