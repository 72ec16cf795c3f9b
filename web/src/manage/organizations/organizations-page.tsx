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
import { common } from '../../texts/common.ts';
import { organizationsPage as texts } from '../../texts/organizations.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { RichText } from '../../ui/rich-text.tsx';
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
    return <Empty title={texts.noAccess} text={common.enterpriseRoleNeeded} />;
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
      label: common.name,
      cell: ({ id, organizationId, name }) => (
        <div>
          {visible(name)} {id === current?.id && <Badge>{texts.current}</Badge>}
          <span className="under">{organizationId}</span>
        </div>
      ),
    },
    { label: common.monthlyAcuLimit, isNumber: true, cell: (each) => each.maxCycleAcuLimit ?? common.noLimit },
    { label: common.sessionAcuLimit, isNumber: true, cell: (each) => each.maxSessionAcuLimit ?? common.noLimit },
    { label: common.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
    actionsColumn((organization) => (
      <>
        <Button
          size="small"
          aria-label={common.openName({ name: organization.name })}
          onClick={() => {
            choose(organization.organizationId);
            go('/sessions');
          }}
        >
          {texts.open}
        </Button>
        <Button
          size="small"
          aria-label={common.editName({ name: organization.name })}
          onClick={() => setForm(organization)}
        >
          {common.edit}
        </Button>
        <Button
          size="small"
          tone="danger"
          aria-label={common.deleteName({ name: organization.name })}
          onClick={() => setLeaving(organization)}
        >
          {common.delete}
        </Button>
      </>
    )),
  ];
  const add = (
    <Button tone="primary" icon="plus" onClick={() => setForm('new')}>
      {texts.newOrganization}
    </Button>
  );
  return (
    <Page title={texts.organizations} actions={add}>
      {may('MANAGE_BILLING') && (
        <p className="lead">
          <RichText
            text={texts.enterpriseNote}
            slots={{ link: (text) => <Link href="/manage/enterprise">{text}</Link> }}
          />
        </p>
      )}
      <search className="tool-row">
        <TextField
          label={common.search}
          type="search"
          placeholder={texts.searchPlaceholder}
          value={values.q}
          onChange={({ target }) => change({ q: target.value })}
        />
      </search>
      <List
        label={texts.organizations}
        columns={columns}
        edges={data.organizations.edges.filter(({ node }) =>
          matchesText(`${node.name} ${node.organizationId}`, values.q),
        )}
        keyOf={({ id }) => id}
        empty={
          values.q === ''
            ? { title: texts.emptyTitle, text: texts.emptyText }
            : { title: common.noMatches, text: texts.noMatchesText }
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
