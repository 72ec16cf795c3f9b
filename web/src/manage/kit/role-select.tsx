import { graphql, useLazyLoadQuery } from 'react-relay';
import type { RoleScope, roleSelectQuery } from '../../__generated__/roleSelectQuery.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { Select } from '../../ui/field.tsx';

interface RoleSelectProps {
  readonly scope: RoleScope;
  readonly defaultValue: string;
  readonly error: string | null;
}

const builtIn = {
  ORGANIZATION: [
    { roleId: 'org_member', name: 'Member' },
    { roleId: 'org_admin', name: 'Admin' },
  ],
  ENTERPRISE: [
    { roleId: 'account_member', name: 'Member' },
    { roleId: 'account_admin', name: 'Admin' },
  ],
} as const;

/** A role to give: the built-in ones, and those of the enterprise where the viewer may see them. */
export function RoleSelect(props: RoleSelectProps) {
  const { may } = useSigned();
  return may('VIEW_ACCOUNT_MEMBERSHIP') ? (
    <All {...props} />
  ) : (
    <Choice {...props} roles={builtIn[placeOf(props.scope)]} />
  );
}

const placeOf = (scope: RoleScope) => (scope === 'ENTERPRISE' ? 'ENTERPRISE' : 'ORGANIZATION');

function All(props: RoleSelectProps) {
  const { enterprise } = useLazyLoadQuery<roleSelectQuery>(
    graphql`
      query roleSelectQuery {
        enterprise {
          roles(first: 100) {
            nodes {
              roleId
              name
              scope
              isBuiltIn
            }
          }
        }
      }
    `,
    {},
    { fetchPolicy: 'store-and-network' },
  );
  const own = enterprise?.roles.nodes.filter(({ scope, isBuiltIn }) => scope === props.scope && !isBuiltIn) ?? [];
  return <Choice {...props} roles={[...builtIn[placeOf(props.scope)], ...own]} />;
}

interface ChoiceProps extends RoleSelectProps {
  readonly roles: readonly { readonly roleId: string; readonly name: string }[];
}

function Choice({ roles, defaultValue, error }: ChoiceProps) {
  return (
    <Select label="Role" name="roleId" defaultValue={defaultValue} error={error}>
      {roles.map(({ roleId, name }) => (
        <option value={roleId} key={roleId}>
          {name}
        </option>
      ))}
    </Select>
  );
}
