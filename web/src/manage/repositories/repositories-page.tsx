import { Suspense, useState } from 'react';
import { graphql, useLazyLoadQuery, usePaginationFragment } from 'react-relay';
import { Link } from 'wouter';
import type {
  repositoriesPage_organization$data,
  repositoriesPage_organization$key,
} from '../../__generated__/repositoriesPage_organization.graphql.ts';
import type { repositoriesPagePaginationQuery } from '../../__generated__/repositoriesPagePaginationQuery.graphql.ts';
import type { repositoriesPageQuery } from '../../__generated__/repositoriesPageQuery.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { Page } from '../../layout/page.tsx';
import { common } from '../../texts/common.ts';
import { repositoriesPage as texts } from '../../texts/repositories.ts';
import { Badge } from '../../ui/badge.tsx';
import { TextField } from '../../ui/field.tsx';
import { Empty, Loading } from '../../ui/states.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { visible } from '../../ui/visible.ts';
import { List } from '../kit/kit.ts';
import { NoRepositories } from './no-repositories.tsx';
import { ReviewPullRequest } from './review-dialog.tsx';

type Repository = repositoriesPage_organization$data['repositories']['edges'][number]['node'];

/** `/manage/repositories`: the repositories that sessions have used, with their settings. */
export function RepositoriesPage() {
  const { organization } = useSigned();
  const found = useLazyLoadQuery<repositoriesPageQuery>(
    graphql`
      query repositoriesPageQuery($id: ID!) {
        organization(id: $id) {
          ...repositoriesPage_organization
        }
      }
    `,
    { id: organization?.organizationId ?? '' },
    { fetchPolicy: 'store-and-network' },
  );
  if (!found.organization) return <Empty title={common.noOrganization} />;
  return <Repositories organization={found.organization} />;
}

function Repositories({ organization }: { readonly organization: repositoriesPage_organization$key }) {
  const { data, hasNext, isLoadingNext, loadNext, refetch } = usePaginationFragment<
    repositoriesPagePaginationQuery,
    repositoriesPage_organization$key
  >(
    graphql`
      fragment repositoriesPage_organization on Organization
      @throwOnFieldError
      @refetchable(queryName: "repositoriesPagePaginationQuery")
      @argumentDefinitions(
        count: { type: "Int", defaultValue: 50 }
        cursor: { type: "String" }
        search: { type: "String" }
      ) {
        repositories(first: $count, after: $cursor, filter: { search: $search }, orderBy: { field: PATH, direction: ASC })
          @connection(key: "repositoriesPage_repositories") {
          edges {
            node {
              id
              repositoryId
              host
              path
              description
              defaultBranch
              isArchived
              readAt
            }
          }
        }
      }
    `,
    organization,
  );
  const [search, setSearch] = useState('');
  const columns: readonly Column<Repository>[] = [
    {
      label: common.repository,
      cell: ({ repositoryId, host, path, description }) => (
        <div>
          <Link className="row-link" data-list-item href={`/manage/repositories/${repositoryId}`}>
            {visible(path)}
          </Link>
          <span className="under">{description ? visible(description) : visible(host)}</span>
        </div>
      ),
    },
    { label: common.defaultBranch, cell: ({ defaultBranch }) => defaultBranch && visible(defaultBranch) },
    { label: common.status, cell: ({ isArchived }) => isArchived && <Badge tone="plain">{common.archived}</Badge> },
    { label: texts.lastRead, cell: ({ readAt }) => readAt && <Time at={readAt} /> },
  ];
  const find = (text: string) => {
    setSearch(text);
    refetch({ search: text.trim() === '' ? null : text.trim() }, { fetchPolicy: 'store-and-network' });
  };
  return (
    <Page title={common.repositories} actions={<ReviewPullRequest />}>
      <div className="tool-row">
        <TextField
          label={common.search}
          type="search"
          value={search}
          placeholder={texts.searchPlaceholder}
          onChange={({ target }) => find(target.value)}
        />
      </div>
      {search === '' && data.repositories.edges.length === 0 ? (
        <Suspense fallback={<Loading label={texts.loadingRepositories} />}>
          <NoRepositories />
        </Suspense>
      ) : (
        <List
          label={common.repositories}
          columns={columns}
          edges={data.repositories.edges}
          keyOf={({ id }) => id}
          empty={{ title: common.noMatches, text: texts.noMatchesText }}
          hasMore={hasNext}
          isLoading={isLoadingNext}
          onMore={() => loadNext(50)}
        />
      )}
    </Page>
  );
}
