import { useState } from 'react';
import { graphql, useLazyLoadQuery, usePaginationFragment } from 'react-relay';
import { Link, useLocation } from 'wouter';
import type {
  organizationsPage_enterprise$data,
  organizationsPage_enterprise$key,
} from '../../__generated__/organizationsPage_enterprise.graphql.ts';
import type { organizationsPagePaginationQuery } from '../../__generated__/organizationsPagePaginationQuery.graphql.ts';
import type { organizationsPageQuery } from '../../__generated__/organizationsPageQuery.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { Page } from '../../layout/page.tsx';
import { useUrlParams } from '../../layout/use-url-params.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { Empty } from '../../ui/states.tsx';
import type { Column } from '../../ui/table.tsx';
import { matchesText } from '../../ui/text-filter.ts';
import { Time } from '../../ui/time.tsx';
import { visible } from '../../ui/visible.ts';
import { actionsColumn, List } from '../kit/kit.ts';
import { DeleteOrganization } from './delete-organization.tsx';
import { ChangeOrganization, NewOrganization } from './organization-forms.tsx';

type Organization = organizationsPage_enterprise$data['organizations']['edges'][number]['node'];

const names = ['q'] as const;

/** `/manage/organizations`: all organizations of the enterprise. */
export function OrganizationsPage() {
  const { may } = useSigned();
  const isFor = may('MANAGE_ORGANIZATIONS') && may('READ_ACCOUNT_META');
  const { enterprise } = useLazyLoadQuery<organizationsPageQuery>(
    graphql`
      query organizationsPageQuery($isFor: Boolean!) {
        enterprise {
          ...organizationsPage_enterprise @include(if: $isFor) @alias(as: "all")
        }
      }
    `,
    { isFor },
    { fetchPolicy: 'store-and-network' },
  );
  if (!enterprise?.all) {
    return <Empty title="No access to organizations" text="You need an enterprise role to view this page." />;
  }
  return <Organizations enterprise={enterprise.all} />;
}

function Organizations({ enterprise }: { readonly enterprise: organizationsPage_enterprise$key }) {
  const { data, hasNext, isLoadingNext, loadNext } = usePaginationFragment<
    organizationsPagePaginationQuery,
    organizationsPage_enterprise$key
  >(
    graphql`
      fragment organizationsPage_enterprise on Enterprise
      @refetchable(queryName: "organizationsPagePaginationQuery")
      @argumentDefinitions(count: { type: "Int", defaultValue: 50 }, cursor: { type: "String" }) {
        organizations(first: $count, after: $cursor) @connection(key: "organizationsPage_organizations") {
          __id
          edges {
            node {
              id
              organizationId
              name
              createdAt
              maxCycleAcuLimit
              maxSessionAcuLimit
            }
          }
        }
      }
    `,
    enterprise,
  );
  const { organization: current, choose, may } = useSigned();
  const [, go] = useLocation();
  const { values, change } = useUrlParams(names);
  const [form, setForm] = useState<Organization | 'new' | null>(null);
  const [leaving, setLeaving] = useState<Organization | null>(null);
  const connections = [data.organizations.__id];
  const columns: readonly Column<Organization>[] = [
    {
      label: 'Name',
      cell: ({ id, organizationId, name }) => (
        <div>
          {visible(name)} {id === current?.id && <Badge>Current</Badge>}
          <span className="under">{organizationId}</span>
        </div>
      ),
    },
    { label: 'Monthly ACU limit', isNumber: true, cell: (each) => each.maxCycleAcuLimit ?? 'No limit' },
    { label: 'ACU limit per session', isNumber: true, cell: (each) => each.maxSessionAcuLimit ?? 'No limit' },
    { label: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
    actionsColumn((organization) => (
      <>
        <Button
          size="small"
          aria-label={`Open ${organization.name}`}
          onClick={() => {
            choose(organization.organizationId);
            go('/sessions');
          }}
        >
          Open
        </Button>
        <Button size="small" aria-label={`Edit ${organization.name}`} onClick={() => setForm(organization)}>
          Edit
        </Button>
        <Button
          size="small"
          tone="danger"
          aria-label={`Delete ${organization.name}`}
          onClick={() => setLeaving(organization)}
        >
          Delete
        </Button>
      </>
    )),
  ];
  const add = (
    <Button tone="primary" icon="plus" onClick={() => setForm('new')}>
      New organization
    </Button>
  );
  return (
    <Page title="Organizations" actions={add}>
      {may('MANAGE_BILLING') && (
        <p className="lead">
          The limit of all organizations and the IP access list are on the{' '}
          <Link href="/manage/enterprise">Enterprise</Link> page.
        </p>
      )}
      <search className="tool-row">
        <TextField
          label="Search"
          type="search"
          placeholder="Name or ID"
          value={values.q}
          onChange={({ target }) => change({ q: target.value })}
        />
      </search>
      <List
        label="Organizations"
        columns={columns}
        edges={data.organizations.edges.filter(({ node }) =>
          matchesText(`${node.name} ${node.organizationId}`, values.q),
        )}
        keyOf={({ id }) => id}
        empty={
          values.q === ''
            ? { title: 'No organizations', text: 'Create an organization to start sessions in it.', action: add }
            : { title: 'No matching organizations', text: 'No organization has this name or ID.' }
        }
        hasMore={hasNext}
        isLoading={isLoadingNext}
        onMore={() => loadNext(100)}
      />
      {form === 'new' && <NewOrganization connections={connections} onClose={() => setForm(null)} />}
      {form !== null && form !== 'new' && <ChangeOrganization organization={form} onClose={() => setForm(null)} />}
      {leaving && (
        <DeleteOrganization organization={leaving} connections={connections} onClose={() => setLeaving(null)} />
      )}
    </Page>
  );
}
