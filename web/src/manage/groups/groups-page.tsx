import { useState } from 'react';
import { graphql, useLazyLoadQuery, usePaginationFragment } from 'react-relay';
import { Link } from 'wouter';
import type {
  groupsPage_enterprise$data,
  groupsPage_enterprise$key,
} from '../../__generated__/groupsPage_enterprise.graphql.ts';
import type { groupsPagePaginationQuery } from '../../__generated__/groupsPagePaginationQuery.graphql.ts';
import type { groupsPageQuery } from '../../__generated__/groupsPageQuery.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { Page } from '../../layout/page.tsx';
import { useUrlParams } from '../../layout/use-url-params.ts';
import { common } from '../../texts/common.ts';
import { groupsPage as texts } from '../../texts/groups.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { Empty } from '../../ui/states.tsx';
import type { Column } from '../../ui/table.tsx';
import { matchesText } from '../../ui/text-filter.ts';
import { Time } from '../../ui/time.tsx';
import { visible } from '../../ui/visible.ts';
import { List } from '../kit/kit.ts';
import { inOrganizations } from '../users/in-organizations.ts';
import { RegisterGroups } from './register-groups.tsx';

type Group = groupsPage_enterprise$data['idpGroups']['edges'][number]['node'];

const names = ['q'] as const;

/** `/manage/groups`: the groups of identity providers that the enterprise has registered. */
export function GroupsPage() {
  const [fetchKey, setFetchKey] = useState(0);
  const { enterprise } = useLazyLoadQuery<groupsPageQuery>(
    graphql`
      query groupsPageQuery {
        enterprise {
          ...groupsPage_enterprise
        }
      }
    `,
    {},
    { fetchPolicy: 'store-and-network', fetchKey },
  );
  if (!enterprise) return <Empty title={texts.noAccess} text={common.enterpriseRoleNeeded} />;
  return <Groups enterprise={enterprise} onChanged={() => setFetchKey((before) => before + 1)} />;
}

interface GroupsProps {
  readonly enterprise: groupsPage_enterprise$key;
  readonly onChanged: () => void;
}

function Groups({ enterprise, onChanged }: GroupsProps) {
  const { data, hasNext, isLoadingNext, loadNext } = usePaginationFragment<
    groupsPagePaginationQuery,
    groupsPage_enterprise$key
  >(
    graphql`
      fragment groupsPage_enterprise on Enterprise
      @throwOnFieldError
      @refetchable(queryName: "groupsPagePaginationQuery")
      @argumentDefinitions(count: { type: "Int", defaultValue: 50 }, cursor: { type: "String" }) {
        idpGroups(first: $count, after: $cursor) @connection(key: "groupsPage_idpGroups") {
          edges {
            node {
              id
              name
              createdAt
              roleAssignments(first: 5) {
                nodes {
                  organizationId
                  organization {
                    id
                    name
                  }
                  role {
                    id
                    name
                  }
                }
                pageInfo {
                  hasNextPage
                }
              }
            }
          }
        }
      }
    `,
    enterprise,
  );
  const { may } = useSigned();
  const { values, change } = useUrlParams(names);
  const [isNew, setNew] = useState(false);
  const { edges } = data.idpGroups;
  const register = may('MANAGE_ACCOUNT_MEMBERSHIP') ? (
    <Button tone="primary" icon="plus" onClick={() => setNew(true)}>
      {texts.register}
    </Button>
  ) : null;
  return (
    <Page title={common.groups} actions={register}>
      {edges.length > 0 && (
        <search className="tool-row">
          <TextField
            label={common.search}
            type="search"
            placeholder={texts.searchPlaceholder}
            value={values.q}
            onChange={({ target }) => change({ q: target.value })}
          />
        </search>
      )}
      <List
        label={common.groups}
        columns={columns}
        edges={edges.filter(({ node }) => matchesText(node.name, values.q))}
        keyOf={({ id }) => id}
        empty={
          edges.length === 0
            ? { title: texts.emptyTitle, text: texts.emptyText }
            : { title: common.noMatches, text: texts.noMatchesText }
        }
        hasMore={hasNext}
        isLoading={isLoadingNext}
        onMore={() => loadNext(100)}
      />
      {isNew && <RegisterGroups onClose={() => setNew(false)} onDone={onChanged} />}
    </Page>
  );
}

const columns: readonly Column<Group>[] = [
  {
    label: common.name,
    cell: ({ id, name }) => (
      <Link href={`/manage/groups/${id}`} className="row-link" data-list-item>
        {visible(name)}
      </Link>
    ),
  },
  {
    label: common.enterpriseRole,
    cell: ({ roleAssignments: { nodes } }) => nodes.find((each) => each.organizationId == null)?.role.name ?? '',
  },
  { label: texts.organizations, cell: ({ roleAssignments }) => inOrganizations(roleAssignments) },
  { label: texts.registered, cell: ({ createdAt }) => <Time at={createdAt} /> },
];
