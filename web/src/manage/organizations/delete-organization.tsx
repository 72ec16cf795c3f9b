import { useState } from 'react';
import { graphql } from 'react-relay';
import type { deleteOrganizationMutation } from '../../__generated__/deleteOrganizationMutation.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { useMutation } from '../../relay/use-mutation.ts';
import { common } from '../../texts/common.ts';
import { deleteOrganization as texts } from '../../texts/organizations.ts';
import { errorOf, TextField } from '../../ui/field.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { FormDialog, type FormFields, type FormProblem } from '../kit/kit.ts';

interface DeleteOrganizationProps {
  readonly organization: { readonly organizationId: string; readonly name: string };
  readonly connections: readonly string[];
  readonly onClose: () => void;
}

/** Deletes an organization with all its content, after its name was typed. */
export function DeleteOrganization({ organization, connections, onClose }: DeleteOrganizationProps) {
  const { organizationId, name } = organization;
  const { reload } = useSigned();
  const toasts = useToasts();
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [remove, isBusy] = useMutation<deleteOrganizationMutation>(
    graphql`
      mutation deleteOrganizationMutation($input: DeleteOrganizationInput!, $connections: [ID!]!) {
        deleteOrganization(input: $input) {
          deletedOrganizationId @deleteEdge(connections: $connections)
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
    if (fields.text('confirmed') !== name.trim()) {
      return setErrors([{ message: texts.confirmName({ name }), path: ['confirmed'] }]);
    }
    const { errors: refused } = await remove({ input: { organizationId }, connections });
    setErrors(refused);
    if (refused !== null) return;
    toasts.say(common.deletedName({ name }));
    reload();
    onClose();
  };
  return (
    <FormDialog
      title={common.deleteNameTitle({ name })}
      submitLabel={common.delete}
      tone="danger"
      isBusy={isBusy}
      errors={errors}
      fieldNames={['confirmed']}
      onClose={onClose}
      onSubmit={(fields) => void submit(fields)}
    >
      <p>{texts.deleteText}</p>
      <TextField
        label={texts.nameLabel}
        name="confirmed"
        autoFocus
        spellCheck={false}
        error={errorOf(errors, 'confirmed')}
      />
    </FormDialog>
  );
}
