import { useState } from 'react';
import { graphql } from 'react-relay';
import type {
  Permission,
  RoleScope,
  roleFormCreateMutation,
} from '../../__generated__/roleFormCreateMutation.graphql.ts';
import type { roleFormUpdateMutation } from '../../__generated__/roleFormUpdateMutation.graphql.ts';
import { useMutation } from '../../relay/use-mutation.ts';
import { common } from '../../texts/common.ts';
import { roleForm as texts } from '../../texts/roles.ts';
import { errorOf, Select, TextField } from '../../ui/field.tsx';
import { permissionName } from '../../ui/permission-text.ts';
import { useToasts } from '../../ui/toasts.tsx';
import { FormDialog, type FormFields, type FormProblem } from '../kit/kit.ts';
import { meanings, organizationPermissions, permissions } from './permissions.ts';

interface RoleFormProps {
  /** The role to change; null: a new one. */
  readonly role: {
    readonly roleId: string;
    readonly name: string;
    readonly scope: string;
    readonly permissions: readonly string[];
  } | null;
  readonly connections: readonly string[];
  readonly onClose: () => void;
}

/** Creates or changes a role. */
export function RoleForm({ role, connections, onClose }: RoleFormProps) {
  const toasts = useToasts();
  const [scope, setScope] = useState<RoleScope>((role?.scope as RoleScope | undefined) ?? 'ORGANIZATION');
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [create, isCreating] = useMutation<roleFormCreateMutation>(
    graphql`
      mutation roleFormCreateMutation($input: CreateRoleInput!, $connections: [ID!]!) {
        createRole(input: $input) {
          roleEdge @prependEdge(connections: $connections) {
            node {
              id
              roleId
              name
              scope
              isBuiltIn
              permissions
            }
          }
          userErrors {
            message
            path
          }
        }
      }
    `,
    { isQuiet: true },
  );
  const [update, isUpdating] = useMutation<roleFormUpdateMutation>(
    graphql`
      mutation roleFormUpdateMutation($input: UpdateRoleInput!) {
        updateRole(input: $input) {
          role {
            id
            name
            permissions
          }
          userErrors {
            message
            path
          }
        }
      }
    `,
    { isQuiet: true },
  );
  const submit = async (fields: FormFields) => {
    const input = { name: fields.text('name'), permissions: fields.all('permissions') as Permission[] };
    const { errors: refused } = role
      ? await update({ input: { ...input, roleId: role.roleId } })
      : await create({ input: { ...input, scope }, connections });
    setErrors(refused);
    if (refused !== null) return;
    toasts.say(common.savedName({ name: input.name }));
    onClose();
  };
  const shown = scope === 'ENTERPRISE' ? permissions : organizationPermissions;
  return (
    <FormDialog
      title={role ? common.editName({ name: role.name }) : texts.newRole}
      submitLabel={role ? common.save : texts.create}
      size="large"
      isBusy={isCreating || isUpdating}
      errors={errors}
      fieldNames={['name']}
      onClose={onClose}
      onSubmit={(fields) => void submit(fields)}
    >
      <div className="fields">
        <TextField
          label={common.name}
          name="name"
          required
          autoFocus
          defaultValue={role?.name}
          error={errorOf(errors, 'name')}
        />
        <Select
          label={common.scope}
          value={scope}
          disabled={role !== null}
          onChange={(event) => setScope(event.target.value as RoleScope)}
        >
          <option value="ORGANIZATION">{common.organization}</option>
          <option value="ENTERPRISE">{common.enterprise}</option>
        </Select>
      </div>
      <fieldset className="boxes">
        <legend>{common.permissions}</legend>
        {shown.map((permission) => (
          <div key={permission}>
            <label className="check">
              <input
                type="checkbox"
                name="permissions"
                value={permission}
                aria-describedby={`means-${permission}`}
                defaultChecked={role?.permissions.includes(permission) ?? false}
              />
              {permissionName(permission)}
            </label>
            <p className="hint" id={`means-${permission}`}>
              {meanings[permission]}
            </p>
          </div>
        ))}
      </fieldset>
    </FormDialog>
  );
}
