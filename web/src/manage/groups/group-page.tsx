import { useState } from 'react';
import { graphql, useLazyLoadQuery, usePaginationFragment } from 'react-relay';
import { Link, useLocation } from 'wouter';
import type { groupPage_group$key } from '../../__generated__/groupPage_group.graphql.ts';
import type { groupPageDeleteMutation } from '../../__generated__/groupPageDeleteMutation.graphql.ts';
import type { groupPagePaginationQuery } from '../../__generated__/groupPagePaginationQuery.graphql.ts';
import type { groupPageQuery } from '../../__generated__/groupPageQuery.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { NotFound } from '../../layout/not-found.tsx';
import { Page } from '../../layout/page.tsx';
import { useMutation } from '../../relay/use-mutation.ts';
import { common } from '../../texts/common.ts';
import { groupsPage, groupPage as texts } from '../../texts/groups.ts';
import { userPage } from '../../texts/users.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Time } from '../../ui/time.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { visible } from '../../ui/visible.ts';
import { scopeOf } from '../kit/scope-input.ts';
import { RoleList } from '../users/role-list.tsx';
import { GroupMembers } from './group-members.tsx';
import { useAssignGroup, useUnassignGroup } from './use-assign-group.ts';

/** `/manage/groups/:id`: a group of an identity provider and its role in each scope. */
export function GroupPage({ id }: { readonly id: string }) {
  const [fetchKey, setFetchKey] = useState(0);
  const { node } = useLazyLoadQuery<groupPageQuery>(
    graphql`
      query groupPageQuery($id: ID!) {
        node(id: $id) {
          ... on IdpGroup {
            ...groupPage_group @alias(as: "group")
          }
        }
      }
    `,
    { id },
    { fetchPolicy: 'store-and-network', fetchKey },
  );
  if (!node?.group)
    return <NotFound title={texts.notFound} text={texts.notFoundText} path="/manage/groups" list={common.groups} />;
  return <Group group={node.group} onChanged={() => setFetchKey((before) => before + 1)} />;
}

interface GroupProps {
  readonly group: groupPage_group$key;
  readonly onChanged: () => void;
}

function Group({ group, onChanged }: GroupProps) {
  const { data, hasNext, isLoadingNext, loadNext } = usePaginationFragment<
    groupPagePaginationQuery,
    groupPage_group$key
  >(
    graphql`
      fragment groupPage_group on IdpGroup
      @refetchable(queryName: "groupPagePaginationQuery")
      @argumentDefinitions(count: { type: "Int", defaultValue: 50 }, cursor: { type: "String" }) {
        id
        idpGroupId
        name
        createdAt
        ...groupMembers_group
        roleAssignments(first: $count, after: $cursor) @connection(key: "groupPage_roleAssignments") {
          edges {
            node {
              organizationId
              organization {
                id
                name
              }
              role {
                id
                roleId
                name
              }
            }
          }
        }
      }
    `,
    group,
  );
  const { may } = useSigned();
  const toasts = useToasts();
  const [, go] = useLocation();
  const [isDeletion, setDeletion] = useState(false);
  const [assign, isAssigning] = useAssignGroup();
  const [unassign, isRemoving] = useUnassignGroup();
  const [remove, isDeleting] = useMutation<groupPageDeleteMutation>(graphql`
    mutation groupPageDeleteMutation($input: DeleteIdpGroupInput!) {
      deleteIdpGroup(input: $input) {
        deletedIdpGroupId
        userErrors {
          message
        }
      }
    }
  `);
  const { idpGroupId, name } = data;
  const mayChange = may('MANAGE_ACCOUNT_MEMBERSHIP');
  const deleteGroup = async () => {
    const { errors } = await remove({ input: { idpGroupId } });
    setDeletion(false);
    if (errors !== null) return;
    toasts.say(common.deletedName({ name }));
    go('/manage/groups');
  };
  return (
    <Page
      title={name}
      actions={
        mayChange && (
          <Button tone="danger" onClick={() => setDeletion(true)}>
            {common.delete}
          </Button>
        )
      }
    >
      <div className="sheets">
        <section className="card sheet" aria-label={texts.facts}>
          <dl className="facts">
            <dt>{common.name}</dt>
            <dd>{visible(name)}</dd>
            <dt>{userPage.id}</dt>
            <dd>
              <code>{idpGroupId}</code>
            </dd>
            <dt>{groupsPage.registered}</dt>
            <dd>
              <Time at={data.createdAt} />
            </dd>
          </dl>
        </section>
        <RoleList
          called={name}
          assignments={data.roleAssignments.edges.map(({ node }) => node)}
          hasMore={hasNext}
          isLoading={isLoadingNext}
          onMore={() => loadNext(50)}
          mayChange={mayChange}
          noRoles={texts.noRoles}
          removeText={(organizationId) => (organizationId === null ? texts.removeAllText : texts.removeText)}
          assign={async (organizationId, roleId) =>
            (await assign({ input: { idpGroupId, scope: scopeOf(organizationId), roleId } })).errors
          }
          unassign={async (organizationId) =>
            (await unassign({ input: { idpGroupId, scope: scopeOf(organizationId) } })).errors
          }
          isBusy={isAssigning || isRemoving}
          onChanged={onChanged}
        />
        <GroupMembers group={data} />
        <p>
          <Link href="/manage/groups">{texts.allGroups}</Link>
        </p>
      </div>
      {isDeletion && (
        <Confirm
          title={common.deleteNameTitle({ name })}
          text={texts.deleteText}
          confirmLabel={common.delete}
          isBusy={isDeleting}
          onClose={() => setDeletion(false)}
          onConfirm={() => void deleteGroup()}
        />
      )}
    </Page>
  );
}
