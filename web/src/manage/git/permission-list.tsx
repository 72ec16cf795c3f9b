import { useId, useState } from 'react';
import { graphql, readInlineData, useLazyLoadQuery, usePaginationFragment } from 'react-relay';
import type { permissionList_organization$key } from '../../__generated__/permissionList_organization.graphql.ts';
import type {
  permissionList_permission$data,
  permissionList_permission$key,
} from '../../__generated__/permissionList_permission.graphql.ts';
import type { permissionListDeleteMutation } from '../../__generated__/permissionListDeleteMutation.graphql.ts';
import type { permissionListPaginationQuery } from '../../__generated__/permissionListPaginationQuery.graphql.ts';
import type { permissionListQuery } from '../../__generated__/permissionListQuery.graphql.ts';
import type { permissionListUpdateMutation } from '../../__generated__/permissionListUpdateMutation.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { useMutation } from '../../relay/use-mutation.ts';
import { common } from '../../texts/common.ts';
import { permissionList as texts } from '../../texts/git.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { More } from '../../ui/more.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { visible } from '../../ui/visible.ts';
import { actionsColumn, ConfirmAction } from '../kit/kit.ts';
import { PermissionDialog } from './permission-dialog.tsx';
import { describeTarget, targetKindOf, targetKinds } from './permission-target.ts';

type Permission = permissionList_permission$data;

interface PermissionListProps {
  readonly organizationId: string;
  readonly connections: readonly { readonly gitConnectionId: string; readonly name: string }[];
}

/** The permissions of an organization to use repositories. */
export function PermissionList({ organizationId, connections }: PermissionListProps) {
  const { may, hasSeveral } = useSigned();
  const { organization, enterprise } = useLazyLoadQuery<permissionListQuery>(
    graphql`
      query permissionListQuery($id: ID!, $seesAll: Boolean!) {
        enterprise @include(if: $seesAll) {
          organizations(first: 2) {
            nodes {
              id
            }
          }
        }
        organization(id: $id) {
          ...permissionList_organization
        }
      }
    `,
    { id: organizationId, seesAll: may('READ_ACCOUNT_META') },
    { fetchPolicy: 'store-and-network' },
  );
  if (!organization) return <Empty title={texts.organizationNotFound} text={common.mayBeDeleted} />;
  const count = enterprise?.organizations?.nodes.length;
  const isOnly = hasSeveral ? false : count == null ? null : count === 1;
  return <Permissions organization={organization} {...{ organizationId, connections, isOnly }} />;
}

/** Reads a permission: lists and mutations have the same members. */
const readPermission = (reference: permissionList_permission$key): Permission =>
  readInlineData(
    graphql`
      fragment permissionList_permission on GitPermission @inline {
        id
        gitPermissionId
        repoPath
        groupPrefix
        prefixPath
        isReadOnly
        gitConnection {
          name
        }
      }
    `,
    reference,
  );

interface PermissionsProps extends PermissionListProps {
  readonly organization: permissionList_organization$key;
  /** True if the enterprise has no other organization; null: unknown. */
  readonly isOnly: boolean | null;
}

function noPermissions(isOnly: boolean | null): string {
  if (isOnly === true) return texts.noneOnlyOrganization;
  if (isOnly === false) return texts.noneYet;
  return texts.noneUnknown;
}

function Permissions(props: PermissionsProps) {
  const { organizationId, connections, isOnly } = props;
  const { data, hasNext, isLoadingNext, loadNext } = usePaginationFragment<
    permissionListPaginationQuery,
    permissionList_organization$key
  >(
    graphql`
      fragment permissionList_organization on Organization
      @throwOnFieldError
      @refetchable(queryName: "permissionListPaginationQuery")
      @argumentDefinitions(count: { type: "Int", defaultValue: 50 }, cursor: { type: "String" }) {
        gitPermissions(first: $count, after: $cursor) @connection(key: "permissionList_gitPermissions") {
          __id
          edges {
            node {
              ...permissionList_permission
            }
          }
        }
      }
    `,
    props.organization,
  );
  const hintId = useId();
  const toasts = useToasts();
  const [isAdding, setAdding] = useState(false);
  const [leaving, setLeaving] = useState<Permission | null>(null);
  const [update, isUpdating] = useMutation<permissionListUpdateMutation>(graphql`
    mutation permissionListUpdateMutation($input: UpdateGitPermissionInput!) {
      updateGitPermission(input: $input) {
        gitPermission {
          isReadOnly
        }
        userErrors {
          message
        }
      }
    }
  `);
  const [remove] = useMutation<permissionListDeleteMutation>(graphql`
    mutation permissionListDeleteMutation($input: DeleteGitPermissionInput!, $lists: [ID!]!) {
      deleteGitPermission(input: $input) {
        deletedGitPermissionId @deleteEdge(connections: $lists)
        userErrors {
          message
        }
      }
    }
  `);
  const lists = [data.gitPermissions.__id];
  const toggle = async (each: Permission) => {
    const isReadOnly = !each.isReadOnly;
    const { errors } = await update({ input: { gitPermissionId: each.gitPermissionId, isReadOnly } });
    if (errors === null) toasts.say(`${describeTarget(each)}: ${accessLabel(isReadOnly)}.`);
  };
  const columns: readonly Column<Permission>[] = [
    {
      label: common.repositories,
      cell: (each) => (
        <span className="git-name">
          <span className="row-link">{visible(describeTarget(each))}</span>
          <span className="under">{targetKinds[targetKindOf(each)].label}</span>
        </span>
      ),
    },
    { label: texts.connection, cell: ({ gitConnection }) => gitConnection?.name ?? texts.deleted },
    {
      label: texts.access,
      cell: ({ isReadOnly }) => <Badge tone={isReadOnly ? 'plain' : 'good'}>{accessLabel(isReadOnly)}</Badge>,
    },
    actionsColumn((each) => (
      <>
        <Button
          size="small"
          isBusy={isUpdating}
          aria-label={`${toggleLabel(each)}: ${describeTarget(each)}`}
          onClick={() => void toggle(each)}
        >
          {toggleLabel(each)}
        </Button>
        <Button
          size="small"
          tone="danger"
          aria-label={common.removeName({ name: describeTarget(each) })}
          onClick={() => setLeaving(each)}
        >
          {common.remove}
        </Button>
      </>
    )),
  ];
  const add = (
    <Button
      icon="plus"
      disabled={connections.length === 0}
      aria-describedby={connections.length === 0 ? hintId : undefined}
      onClick={() => setAdding(true)}
    >
      {texts.add}
    </Button>
  );
  const permissions = data.gitPermissions.edges.map(({ node }) => readPermission(node));
  return (
    <>
      {permissions.length > 0 && <div>{add}</div>}
      {permissions.length === 0 && !hasNext ? (
        <Empty title={texts.emptyTitle} text={noPermissions(isOnly)}>
          {add}
        </Empty>
      ) : (
        <Table label={texts.gitPermissions} columns={columns} rows={permissions} keyOf={({ id }) => id} />
      )}
      <More hasMore={hasNext} isLoading={isLoadingNext} onMore={() => loadNext(100)} />
      {connections.length === 0 && (
        <p className="hint" id={hintId}>
          {texts.addProviderFirst}
        </p>
      )}
      {isAdding && (
        <PermissionDialog
          organizationId={organizationId}
          connections={connections}
          listId={data.gitPermissions.__id}
          onClose={() => setAdding(false)}
        />
      )}
      {leaving && (
        <ConfirmAction
          title={common.removeNameTitle({ name: describeTarget(leaving) })}
          text={texts.deleteText}
          confirmLabel={common.remove}
          successMessage={common.removedName({ name: describeTarget(leaving) })}
          run={() => remove({ input: { gitPermissionId: leaving.gitPermissionId }, lists })}
          onClose={() => setLeaving(null)}
        />
      )}
    </>
  );
}

const accessLabel = (isReadOnly: boolean) => (isReadOnly ? texts.readOnly : texts.cloneAndPush);
const toggleLabel = ({ isReadOnly }: Permission) => (isReadOnly ? texts.allowPushes : texts.makeReadOnly);
