import { Suspense, useState } from 'react';
import { graphql, useLazyLoadQuery, usePaginationFragment } from 'react-relay';
import type {
  membersPage_organization$data,
  membersPage_organization$key,
} from '../../__generated__/membersPage_organization.graphql.ts';
import type { membersPagePaginationQuery } from '../../__generated__/membersPagePaginationQuery.graphql.ts';
import type { membersPageQuery } from '../../__generated__/membersPageQuery.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { Page } from '../../layout/page.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/states.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { visible } from '../../ui/visible.ts';
import { actionsColumn, ConfirmAction, List } from '../kit/kit.ts';
import { useUnassign } from '../users/use-assign.ts';
import { ChangeMember, NewMember } from './member-forms.tsx';

type Member = membersPage_organization$data['members']['edges'][number]['node'];

const nameOfMember = ({ user }: Member) => user.name ?? user.email;

/** `/manage/members`: the people of the organization and their roles. */
export function MembersPage() {
  const { organization } = useSigned();
  const [fetchKey, setFetchKey] = useState(0);
  const found = useLazyLoadQuery<membersPageQuery>(
    graphql`
      query membersPageQuery($id: ID!) {
        organization(id: $id) {
          ...membersPage_organization
        }
      }
    `,
    { id: organization?.organizationId ?? '' },
    { fetchPolicy: 'store-and-network', fetchKey },
  );
  if (!organization || !found.organization) return <Empty title="No organization" />;
  return (
    <Members
      organization={found.organization}
      organizationId={organization.organizationId}
      onChanged={() => setFetchKey((before) => before + 1)}
    />
  );
}

interface MembersProps {
  readonly organization: membersPage_organization$key;
  readonly organizationId: string;
  readonly onChanged: () => void;
}

function Members({ organization, organizationId, onChanged }: MembersProps) {
  const { data, hasNext, isLoadingNext, loadNext } = usePaginationFragment<
    membersPagePaginationQuery,
    membersPage_organization$key
  >(
    graphql`
      fragment membersPage_organization on Organization
      @throwOnFieldError
      @refetchable(queryName: "membersPagePaginationQuery")
      @argumentDefinitions(count: { type: "Int", defaultValue: 50 }, cursor: { type: "String" }) {
        members(first: $count, after: $cursor) @connection(key: "membersPage_members") {
          __id
          edges {
            node {
              id
              createdAt
              user {
                id
                userId
                name
                email
              }
              roles {
                id
                roleId
                name
              }
            }
          }
        }
      }
    `,
    organization,
  );
  const { may } = useSigned();
  const [isNew, setNew] = useState(false);
  const [changing, setChanging] = useState<Member | null>(null);
  const [leaving, setLeaving] = useState<Member | null>(null);
  const [remove] = useUnassign();
  const mayChange = may('MANAGE_ACCOUNT_MEMBERSHIP');
  const columns: readonly Column<Member>[] = [
    {
      label: 'Name',
      cell: ({ user }) => (
        <div>
          {visible(user.name ?? user.email)}
          {user.name && <span className="under">{visible(user.email)}</span>}
        </div>
      ),
    },
    { label: 'Role', cell: ({ roles }) => roles.map(({ name }) => name).join(', ') },
    { label: 'Added', cell: ({ createdAt }) => <Time at={createdAt} /> },
    actionsColumn((member) =>
      mayChange ? (
        <>
          <Button size="small" aria-label={`Edit ${nameOfMember(member)}`} onClick={() => setChanging(member)}>
            Edit
          </Button>
          <Button
            size="small"
            tone="danger"
            aria-label={`Remove ${nameOfMember(member)}`}
            onClick={() => setLeaving(member)}
          >
            Remove
          </Button>
        </>
      ) : null,
    ),
  ];
  const add = mayChange ? (
    <Button tone="primary" icon="plus" onClick={() => setNew(true)}>
      Add member
    </Button>
  ) : null;
  return (
    <Page title="Members" actions={add}>
      <List
        label="Members"
        columns={columns}
        edges={data.members.edges}
        keyOf={({ id }) => id}
        empty={{
          title: 'No members yet',
          text: 'Members can use this organization. Add a member and select a role.',
          action: add,
        }}
        hasMore={hasNext}
        isLoading={isLoadingNext}
        onMore={() => loadNext(50)}
      />
      <Suspense fallback={null}>
        {isNew && <NewMember organizationId={organizationId} onClose={() => setNew(false)} onDone={onChanged} />}
        {changing && (
          <ChangeMember
            organizationId={organizationId}
            userId={changing.user.userId}
            name={changing.user.name ?? ''}
            roleId={changing.roles[0]?.roleId ?? 'org_member'}
            onClose={() => setChanging(null)}
            onDone={onChanged}
          />
        )}
      </Suspense>
      {leaving && (
        <ConfirmAction
          title={`Remove ${nameOfMember(leaving)}?`}
          text="They and their keys lose access to this organization, unless an enterprise role grants it. Their sessions are kept."
          confirmLabel="Remove"
          successMessage={`Removed ${nameOfMember(leaving)}.`}
          run={() =>
            remove({
              input: { principal: { userId: leaving.user.userId }, scope: { organizationId } },
            })
          }
          onClose={() => setLeaving(null)}
          onDone={onChanged}
        />
      )}
    </Page>
  );
}
