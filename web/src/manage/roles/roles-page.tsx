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
import { common } from '../../texts/common.ts';
import { rolesPage as texts } from '../../texts/roles.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { permissionName } from '../../ui/permission-text.ts';
import { Empty } from '../../ui/states.tsx';
import type { Column } from '../../ui/table.tsx';
import { visible } from '../../ui/visible.ts';
import { actionsColumn, ConfirmAction, List } from '../kit/kit.ts';
import { RoleForm } from './role-form.tsx';

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
  if (!enterprise) return <Empty title={texts.noAccess} text={common.enterpriseRoleNeeded} />;
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
      label: common.name,
      cell: ({ name, roleId, isBuiltIn }) => (
        <div>
          {visible(name)} {isBuiltIn && <Badge>{texts.builtIn}</Badge>}
          <span className="under">{roleId}</span>
        </div>
      ),
    },
    { label: common.scope, cell: ({ scope }) => (scope === 'ENTERPRISE' ? common.enterprise : common.organization) },
    {
      label: common.permissions,
      cell: ({ permissions }) => (
        <details>
          <summary>{texts.permissions({ count: permissions.length })}</summary>
          <ul>
            {permissions.map((permission) => (
              <li key={permission}>{permissionName(permission)}</li>
            ))}
          </ul>
        </details>
      ),
    },
    actionsColumn((role) =>
      mayChange && !role.isBuiltIn ? (
        <>
          <Button size="small" aria-label={common.editName({ name: role.name })} onClick={() => setForm(role)}>
            {common.edit}
          </Button>
          <Button
            size="small"
            tone="danger"
            aria-label={common.deleteName({ name: role.name })}
            onClick={() => setLeaving(role)}
          >
            {common.delete}
          </Button>
        </>
      ) : null,
    ),
  ];
  const add = mayChange ? (
    <Button tone="primary" icon="plus" onClick={() => setForm('new')}>
      {texts.newRole}
    </Button>
  ) : null;
  return (
    <Page title={common.roles} actions={add}>
      <List
        label={common.roles}
        columns={columns}
        edges={data.roles.edges}
        keyOf={({ id }) => id}
        empty={{
          title: texts.emptyTitle,
          text: texts.emptyText,
        }}
        hasMore={hasNext}
        isLoading={isLoadingNext}
        onMore={() => loadNext(50)}
      />
      {form && <RoleForm role={form === 'new' ? null : form} connections={connections} onClose={() => setForm(null)} />}
      {leaving && (
        <ConfirmAction
          title={common.deleteNameTitle({ name: leaving.name })}
          text={texts.deleteText}
          confirmLabel={common.delete}
          successMessage={common.deletedName({ name: leaving.name })}
          run={() => remove({ input: { roleId: leaving.roleId }, connections })}
          onClose={() => setLeaving(null)}
        />
      )}
    </Page>
  );
}
