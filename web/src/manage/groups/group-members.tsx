import { graphql, usePaginationFragment } from 'react-relay';
import { Link } from 'wouter';
import type {
  groupMembers_group$data,
  groupMembers_group$key,
} from '../../__generated__/groupMembers_group.graphql.ts';
import type { groupMembersPaginationQuery } from '../../__generated__/groupMembersPaginationQuery.graphql.ts';
import { common } from '../../texts/common.ts';
import { groupPage as texts } from '../../texts/groups.ts';
import { More } from '../../ui/more.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { visible } from '../../ui/visible.ts';
import { DeactivatedBadge } from '../users/activity.tsx';

type Member = groupMembers_group$data['members']['edges'][number]['node'];

/** The members of a group, by sign-ins and by directories, in the order of their addresses. */
export function GroupMembers({ group }: { readonly group: groupMembers_group$key }) {
  const { data, hasNext, isLoadingNext, loadNext } = usePaginationFragment<
    groupMembersPaginationQuery,
    groupMembers_group$key
  >(
    graphql`
      fragment groupMembers_group on IdpGroup
      @throwOnFieldError
      @refetchable(queryName: "groupMembersPaginationQuery")
      @argumentDefinitions(count: { type: "Int", defaultValue: 50 }, cursor: { type: "String" }) {
        members(first: $count, after: $cursor, orderBy: { field: EMAIL, direction: ASC })
          @connection(key: "groupMembers_members") {
          edges {
            node {
              id
              name
              email
              deactivatedAt
            }
          }
        }
      }
    `,
    group,
  );
  const members = data.members.edges.map(({ node }) => node);
  return (
    <section className="card sheet" aria-labelledby="members">
      <h2 id="members">{common.members}</h2>
      {members.length === 0 ? (
        <p className="soft">{texts.noMembers}</p>
      ) : (
        <Table label={common.members} columns={columns} rows={members} keyOf={({ id }) => id} />
      )}
      <More hasMore={hasNext} isLoading={isLoadingNext} onMore={() => loadNext(100)} />
    </section>
  );
}

const columns: readonly Column<Member>[] = [
  {
    label: common.name,
    cell: ({ id, name, email, deactivatedAt }) => (
      <>
        <Link href={`/manage/users/${id}`} className="row-link" data-list-item>
          {visible(name ?? email)}
        </Link>{' '}
        <DeactivatedBadge at={deactivatedAt} />
      </>
    ),
  },
  { label: common.email, cell: ({ email }) => visible(email) },
];
