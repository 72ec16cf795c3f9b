import { useState } from 'react';
import { graphql } from 'react-relay';
import type { serviceUserFormCreateMutation } from '../../__generated__/serviceUserFormCreateMutation.graphql.ts';
import type { serviceUserFormUpdateMutation } from '../../__generated__/serviceUserFormUpdateMutation.graphql.ts';
import { useAct } from '../../relay/use-act.ts';
import { errorOf, TextField } from '../../ui/field.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { FormDialog, type FormProblem, type Given } from '../kit/kit.ts';
import { RoleSelect } from '../kit/role-select.tsx';

interface ServiceUserFormProps {
  readonly organizationId: string;
  /** The one that is changed; null: a new one. */
  readonly serviceUser: { readonly serviceUserId: string; readonly displayName: string } | null;
  readonly connections: readonly string[];
  readonly onClose: () => void;
}

/** Makes a service user, or gives one another name. */
export function ServiceUserForm({ organizationId, serviceUser, connections, onClose }: ServiceUserFormProps) {
  const toasts = useToasts();
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [create, isCreating] = useAct<serviceUserFormCreateMutation>(
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
  const [update, isUpdating] = useAct<serviceUserFormUpdateMutation>(
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
  const submit = async (given: Given) => {
    const name = given.text('name');
    const day = given.word('expiresAt');
    const { errors: refused } = serviceUser
      ? await update({ input: { serviceUserId: serviceUser.serviceUserId, name } })
      : await create({
          input: {
            scope: { organizationId },
            name,
            roleId: given.text('roleId'),
            expiresAt: day && new Date(`${day}T23:59:59Z`).toISOString(),
          },
          connections,
        });
    setErrors(refused);
    if (refused !== null) return;
    toasts.say(`${name} is saved.`);
    onClose();
  };
  return (
    <FormDialog
      title={serviceUser ? `Change ${serviceUser.displayName}` : 'New service user'}
      act="Save"
      isBusy={isCreating || isUpdating}
      errors={errors}
      placed={['name', 'roleId', 'expiresAt']}
      onClose={onClose}
      onSubmit={(given) => void submit(given)}
    >
      <TextField
        label="Name"
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
            label="Ends after"
            name="expiresAt"
            type="date"
            hint="The last day, of UTC; never where none is given."
            error={errorOf(errors, 'expiresAt')}
          />
        </>
      )}
    </FormDialog>
  );
}
