import { Suspense, useState } from 'react';
import { graphql, useLazyLoadQuery, usePaginationFragment } from 'react-relay';
import { Link } from 'wouter';
import type {
  usersPage_enterprise$data,
  usersPage_enterprise$key,
} from '../../__generated__/usersPage_enterprise.graphql.ts';
import type { usersPagePaginationQuery } from '../../__generated__/usersPagePaginationQuery.graphql.ts';
import type { usersPageQuery } from '../../__generated__/usersPageQuery.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { Page } from '../../layout/page.tsx';
import { useUrlParams } from '../../layout/use-url-params.ts';
import { common } from '../../texts/common.ts';
import { usersPage as texts } from '../../texts/users.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { Empty } from '../../ui/states.tsx';
import type { Column } from '../../ui/table.tsx';
import { matchesText } from '../../ui/text-filter.ts';
import { Time } from '../../ui/time.tsx';
import { visible } from '../../ui/visible.ts';
import { List } from '../kit/kit.ts';
import { DeactivatedBadge } from './activity.tsx';
import { inOrganizations } from './in-organizations.ts';
import { NewUser } from './new-user.tsx';

type User = usersPage_enterprise$data['users']['edges'][number]['node'];

const names = ['q'] as const;

/** `/manage/users`: all users of the enterprise. */
export function UsersPage() {
  const { enterprise } = useLazyLoadQuery<usersPageQuery>(
    graphql`
      query usersPageQuery {
        enterprise {
          ...usersPage_enterprise
        }
      }
    `,
    {},
    { fetchPolicy: 'store-and-network' },
  );
  if (!enterprise) return <Empty title={texts.noAccess} text={common.enterpriseRoleNeeded} />;
  return <Users enterprise={enterprise} />;
}

function Users({ enterprise }: { readonly enterprise: usersPage_enterprise$key }) {
  const { data, hasNext, isLoadingNext, loadNext } = usePaginationFragment<
    usersPagePaginationQuery,
    usersPage_enterprise$key
  >(
    graphql`
      fragment usersPage_enterprise on Enterprise
      @throwOnFieldError
      @refetchable(queryName: "usersPagePaginationQuery")
      @argumentDefinitions(count: { type: "Int", defaultValue: 50 }, cursor: { type: "String" }) {
        users(first: $count, after: $cursor) @connection(key: "usersPage_users") {
          __id
          edges {
            node {
              id
              name
              email
              createdAt
              deactivatedAt
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
  const add = may('MANAGE_ACCOUNT_MEMBERSHIP') ? (
    <Button tone="primary" icon="plus" onClick={() => setNew(true)}>
      {texts.newUser}
    </Button>
  ) : null;
  return (
    <Page title={common.users} actions={add}>
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
        label={common.users}
        columns={columns}
        edges={data.users.edges.filter(({ node }) => matchesText(`${node.name ?? ''} ${node.email}`, values.q))}
        keyOf={({ id }) => id}
        empty={{ title: common.noMatches, text: texts.noMatchesText }}
        hasMore={hasNext}
        isLoading={isLoadingNext}
        onMore={() => loadNext(100)}
      />
      {isNew && (
        <Suspense fallback={null}>
          <NewUser connections={[data.users.__id]} onClose={() => setNew(false)} />
        </Suspense>
      )}
    </Page>
  );
}

const columns: readonly Column<User>[] = [
  {
    label: common.name,
    cell: ({ id, name, email, deactivatedAt }) => (
      <div>
        <Link href={`/manage/users/${id}`} className="row-link" data-list-item>
          {visible(name ?? email)}
        </Link>{' '}
        <DeactivatedBadge at={deactivatedAt} />
        {name && <span className="under">{visible(email)}</span>}
      </div>
    ),
  },
  {
    label: common.enterpriseRole,
    cell: ({ roleAssignments: { nodes } }) => nodes.find((each) => each.organizationId === null)?.role.name ?? '',
  },
  { label: texts.organizations, cell: ({ roleAssignments }) => inOrganizations(roleAssignments) },
  { label: texts.added, cell: ({ createdAt }) => <Time at={createdAt} /> },
];
