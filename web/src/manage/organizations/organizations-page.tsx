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
    return <Empty title="You may not see the organizations" text="It needs a role on the enterprise." />;
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
          {visible(name)} {id === current?.id && <Badge>this one</Badge>}
          <span className="under">{organizationId}</span>
        </div>
      ),
    },
    { label: 'ACUs in a month at most', isNumber: true, cell: (each) => each.maxCycleAcuLimit ?? 'no limit' },
    { label: 'ACUs of a session at most', isNumber: true, cell: (each) => each.maxSessionAcuLimit ?? 'no limit' },
    { label: 'Since', cell: ({ createdAt }) => <Time at={createdAt} /> },
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
        <Button size="small" aria-label={`Change ${organization.name}`} onClick={() => setForm(organization)}>
          Change
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
          What all of them together may use, and where their keys may be used from, is on the page of{' '}
          <Link href="/manage/enterprise">the enterprise</Link>.
        </p>
      )}
      <search className="tool-row">
        <TextField
          label="Search"
          type="search"
          placeholder="In names and ids"
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
            ? { title: 'No organizations', text: 'Sessions and all that belongs to them are in one.', action: add }
            : { title: 'Nothing fits', text: 'No organization is called that.' }
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
