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
import { common } from '../../texts/common.ts';
import { membersPage as texts } from '../../texts/members.ts';
import { signInLinks as linkTexts } from '../../texts/users.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/states.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { visible } from '../../ui/visible.ts';
import { actionsColumn, ConfirmAction, List } from '../kit/kit.ts';
import { DeactivatedBadge } from '../users/activity.tsx';
import { NewSignInLink } from '../users/new-sign-in-link.tsx';
import { useUnassign } from '../users/use-assign.ts';
import { useSignInLink } from '../users/use-sign-in-link.ts';
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
  if (!organization || !found.organization) return <Empty title={common.noOrganization} />;
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
                deactivatedAt
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
  const { may, viewer } = useSigned();
  const [link, setLink] = useState<{ readonly name: string; readonly url: string } | null>(null);
  const [createLink, isLinking] = useSignInLink();
  const makeLink = async (member: Member) => {
    const url = await createLink(member.user.userId);
    if (url !== null) setLink({ name: nameOfMember(member), url });
  };
  const [isNew, setNew] = useState(false);
  const [changing, setChanging] = useState<Member | null>(null);
  const [leaving, setLeaving] = useState<Member | null>(null);
  const [remove] = useUnassign();
  const mayChange = may('MANAGE_ACCOUNT_MEMBERSHIP');
  const columns: readonly Column<Member>[] = [
    {
      label: common.name,
      cell: ({ user }) => (
        <div>
          {visible(user.name ?? user.email)} <DeactivatedBadge at={user.deactivatedAt} />
          {user.name && <span className="under">{visible(user.email)}</span>}
        </div>
      ),
    },
    { label: common.role, cell: ({ roles }) => roles.map(({ name }) => name).join(', ') },
    { label: texts.added, cell: ({ createdAt }) => <Time at={createdAt} /> },
    actionsColumn((member) =>
      mayChange ? (
        <>
          {member.user.id !== viewer.principal?.id && !member.user.deactivatedAt && (
            <Button
              size="small"
              icon="link"
              isBusy={isLinking}
              aria-label={linkTexts.createFor({ name: nameOfMember(member) })}
              onClick={() => void makeLink(member)}
            />
          )}
          <Button
            size="small"
            aria-label={common.editName({ name: nameOfMember(member) })}
            onClick={() => setChanging(member)}
          >
            {common.edit}
          </Button>
          <Button
            size="small"
            tone="danger"
            aria-label={common.removeName({ name: nameOfMember(member) })}
            onClick={() => setLeaving(member)}
          >
            {common.remove}
          </Button>
        </>
      ) : null,
    ),
  ];
  const add = mayChange ? (
    <Button tone="primary" icon="plus" onClick={() => setNew(true)}>
      {texts.addMember}
    </Button>
  ) : null;
  return (
    <Page title={common.members} actions={add}>
      <List
        label={common.members}
        columns={columns}
        edges={data.members.edges}
        keyOf={({ id }) => id}
        empty={{
          title: texts.emptyTitle,
          text: texts.emptyText,
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
      {link && <NewSignInLink {...link} onClose={() => setLink(null)} />}
      {leaving && (
        <ConfirmAction
          title={common.removeNameTitle({ name: nameOfMember(leaving) })}
          text={texts.removeText}
          confirmLabel={common.remove}
          successMessage={common.removedName({ name: nameOfMember(leaving) })}
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
