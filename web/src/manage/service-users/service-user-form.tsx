import { useState } from 'react';
import { graphql } from 'react-relay';
import type { serviceUserFormCreateMutation } from '../../__generated__/serviceUserFormCreateMutation.graphql.ts';
import type { serviceUserFormUpdateMutation } from '../../__generated__/serviceUserFormUpdateMutation.graphql.ts';
import { useMutation } from '../../relay/use-mutation.ts';
import { common } from '../../texts/common.ts';
import { serviceUserForm as texts } from '../../texts/service-users.ts';
import { errorOf, TextField } from '../../ui/field.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { FormDialog, type FormFields, type FormProblem } from '../kit/kit.ts';
import { RoleSelect } from '../kit/role-select.tsx';

interface ServiceUserFormProps {
  readonly organizationId: string;
  /** The service user to change; null: a new one. */
  readonly serviceUser: { readonly serviceUserId: string; readonly displayName: string } | null;
  readonly connections: readonly string[];
  readonly onClose: () => void;
  /** Called with the Relay id of a new service user. */
  readonly onCreated: (id: string) => void;
}

/** Creates or renames a service user. */
export function ServiceUserForm({
  organizationId,
  serviceUser,
  connections,
  onClose,
  onCreated,
}: ServiceUserFormProps) {
  const toasts = useToasts();
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [create, isCreating] = useMutation<serviceUserFormCreateMutation>(
    graphql`
      mutation serviceUserFormCreateMutation($input: CreateServiceUserInput!, $connections: [ID!]!) {
        createServiceUser(input: $input) {
          serviceUserEdge @prependEdge(connections: $connections) {
            node {
              id
              serviceUserId
              displayName
              createdAt
              expiresAt
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
  const [update, isUpdating] = useMutation<serviceUserFormUpdateMutation>(
    graphql`
      mutation serviceUserFormUpdateMutation($input: UpdateServiceUserInput!) {
        updateServiceUser(input: $input) {
          serviceUser {
            id
            displayName
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
    const name = fields.text('name');
    const day = fields.textOrNull('expiresAt');
    if (serviceUser) {
      const { errors: refused } = await update({ input: { serviceUserId: serviceUser.serviceUserId, name } });
      setErrors(refused);
      if (refused !== null) return;
      toasts.say(common.savedName({ name }));
      return onClose();
    }
    const { payload, errors: refused } = await create({
      input: {
        scope: { organizationId },
        name,
        roleId: fields.text('roleId'),
        expiresAt: day && new Date(`${day}T23:59:59Z`).toISOString(),
      },
      connections,
    });
    setErrors(refused);
    if (refused !== null) return;
    toasts.say(texts.created({ name }));
    onClose();
    if (payload.serviceUserEdge) onCreated(payload.serviceUserEdge.node.id);
  };
  return (
    <FormDialog
      title={serviceUser ? common.editName({ name: serviceUser.displayName }) : texts.newServiceUser}
      submitLabel={serviceUser ? common.save : texts.create}
      isBusy={isCreating || isUpdating}
      errors={errors}
      fieldNames={['name', 'roleId', 'expiresAt']}
      onClose={onClose}
      onSubmit={(fields) => void submit(fields)}
    >
      <TextField
        label={common.name}
        name="name"
        required
        autoFocus
        defaultValue={serviceUser?.displayName}
        error={errorOf(errors, 'name')}
      />
      {!serviceUser && (
        <>
          <RoleSelect scope="ORGANIZATION" defaultValue="org_member" error={errorOf(errors, 'roleId')} />
          <TextField
            label={common.expires}
            name="expiresAt"
            type="date"
            hint={texts.expiresHint}
            error={errorOf(errors, 'expiresAt')}
          />
        </>
      )}
    </FormDialog>
  );
}
