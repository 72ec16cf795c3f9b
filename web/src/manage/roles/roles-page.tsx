import { useState } from 'react';
import { graphql, useLazyLoadQuery, usePaginationFragment } from 'react-relay';
import type {
  rolesPage_enterprise$data,
  rolesPage_enterprise$key,
} from '../../__generated__/rolesPage_enterprise.graphql.ts';
import type { rolesPageDeleteMutation } from '../../__generated__/rolesPageDeleteMutation.graphql.ts';
import type { rolesPagePaginationQuery } from '../../__generated__/rolesPagePaginationQuery.graphql.ts';
import type { rolesPageQuery } from '../../__generated__/rolesPageQuery.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { Page } from '../../layout/page.tsx';
import { useMutation } from '../../relay/use-mutation.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/states.tsx';
import type { Column } from '../../ui/table.tsx';
import { visible } from '../../ui/visible.ts';
import { actionsColumn, ConfirmAction, List } from '../kit/kit.ts';
import { permissionText, RoleForm } from './role-form.tsx';

type Role = rolesPage_enterprise$data['roles']['edges'][number]['node'];

/** `/manage/roles`: the roles for people and services. */
export function RolesPage() {
  const { enterprise } = useLazyLoadQuery<rolesPageQuery>(
    graphql`
      query rolesPageQuery {
        enterprise {
          ...rolesPage_enterprise
        }
      }
    `,
    {},
    { fetchPolicy: 'store-and-network' },
  );
  if (!enterprise) return <Empty title="No access to roles" text="You need an enterprise role to view this page." />;
  return <Roles enterprise={enterprise} />;
}

function Roles({ enterprise }: { readonly enterprise: rolesPage_enterprise$key }) {
  const { data, hasNext, isLoadingNext, loadNext } = usePaginationFragment<
    rolesPagePaginationQuery,
    rolesPage_enterprise$key
  >(
    graphql`
      fragment rolesPage_enterprise on Enterprise
      @throwOnFieldError
      @refetchable(queryName: "rolesPagePaginationQuery")
      @argumentDefinitions(count: { type: "Int", defaultValue: 50 }, cursor: { type: "String" }) {
        roles(first: $count, after: $cursor) @connection(key: "rolesPage_roles") {
          __id
          edges {
            node {
              id
              roleId
              name
              scope
              isBuiltIn
              permissions
            }
          }
        }
      }
    `,
    enterprise,
  );
  const { may } = useSigned();
  const [form, setForm] = useState<Role | 'new' | null>(null);
  const [leaving, setLeaving] = useState<Role | null>(null);
  const connections = [data.roles.__id];
  const [remove] = useMutation<rolesPageDeleteMutation>(graphql`
    mutation rolesPageDeleteMutation($input: DeleteRoleInput!, $connections: [ID!]!) {
      deleteRole(input: $input) {
        deletedRoleId @deleteEdge(connections: $connections)
        userErrors {
          message
        }
      }
    }
  `);
  const mayChange = may('MANAGE_ACCOUNT_MEMBERSHIP');
  const columns: readonly Column<Role>[] = [
    {
      label: 'Name',
      cell: ({ name, roleId, isBuiltIn }) => (
        <div>
          {visible(name)} {isBuiltIn && <Badge>Built-in</Badge>}
          <span className="under">{roleId}</span>
        </div>
      ),
    },
    { label: 'Scope', cell: ({ scope }) => (scope === 'ENTERPRISE' ? 'Enterprise' : 'Organization') },
    {
      label: 'Permissions',
      cell: ({ permissions }) => (
        <details>
          <summary>{permissions.length === 1 ? '1 permission' : `${permissions.length} permissions`}</summary>
          <ul>
            {permissions.map((permission) => (
              <li key={permission}>{permissionText(permission)}</li>
            ))}
          </ul>
        </details>
      ),
    },
    actionsColumn((role) =>
      mayChange && !role.isBuiltIn ? (
        <>
          <Button size="small" aria-label={`Edit ${role.name}`} onClick={() => setForm(role)}>
            Edit
          </Button>
          <Button size="small" tone="danger" aria-label={`Delete ${role.name}`} onClick={() => setLeaving(role)}>
            Delete
          </Button>
        </>
      ) : null,
    ),
  ];
  const add = mayChange ? (
    <Button tone="primary" icon="plus" onClick={() => setForm('new')}>
      New role
    </Button>
  ) : null;
  return (
    <Page title="Roles" actions={add}>
      <List
        label="Roles"
        columns={columns}
        edges={data.roles.edges}
        keyOf={({ id }) => id}
        empty={{
          title: 'No roles',
          text: 'A role is a set of permissions. Create one to assign it to users.',
          action: add,
        }}
        hasMore={hasNext}
        isLoading={isLoadingNext}
        onMore={() => loadNext(50)}
      />
      {form && <RoleForm role={form === 'new' ? null : form} connections={connections} onClose={() => setForm(null)} />}
      {leaving && (
        <ConfirmAction
          title={`Delete ${leaving.name}?`}
          text="You can delete a role only if nobody has it."
          confirmLabel="Delete"
          successMessage={`Deleted ${leaving.name}.`}
          run={() => remove({ input: { roleId: leaving.roleId }, connections })}
          onClose={() => setLeaving(null)}
        />
      )}
    </Page>
  );
}
