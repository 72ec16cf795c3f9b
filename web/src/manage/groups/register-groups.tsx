import { useState } from 'react';
import { graphql } from 'react-relay';
import type { registerGroupsMutation } from '../../__generated__/registerGroupsMutation.graphql.ts';
import { useMutation } from '../../relay/use-mutation.ts';
import { groupsPage, registerGroups as texts } from '../../texts/groups.ts';
import { TextArea } from '../../ui/field.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { FormDialog, type FormFields, type FormProblem } from '../kit/kit.ts';

const maxNameLength = 316;

interface RegisterGroupsProps {
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Registers groups of identity providers by their names. */
export function RegisterGroups({ onClose, onDone }: RegisterGroupsProps) {
  const toasts = useToasts();
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [register, isBusy] = useMutation<registerGroupsMutation>(
    graphql`
      mutation registerGroupsMutation($input: RegisterIdpGroupsInput!) {
        registerIdpGroups(input: $input) {
          idpGroups {
            id
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
    const groupNames = fields
      .text('groupNames')
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
    const tooLong = groupNames.find(({ length }) => length > maxNameLength);
    const message =
      tooLong === undefined ? texts.noName : texts.tooLong({ start: tooLong.slice(0, 20), maximum: maxNameLength });
    if (groupNames.length === 0 || tooLong !== undefined) return setErrors([{ message, path: ['groupNames'] }]);
    const { payload, errors: refused } = await register({ input: { groupNames } });
    setErrors(refused);
    if (refused !== null) return;
    toasts.say(texts.done({ count: payload.idpGroups?.length ?? 0 }));
    onDone();
    onClose();
  };
  // The path of an error also has the position of the name.
  const problem = errors?.find(({ path }) => path?.includes('groupNames'))?.message ?? null;
  return (
    <FormDialog
      title={groupsPage.register}
      submitLabel={texts.submit}
      isBusy={isBusy}
      errors={problem === null ? errors : []}
      fieldNames={['groupNames']}
      onClose={onClose}
      onSubmit={(fields) => void submit(fields)}
    >
      <TextArea
        label={texts.names}
        name="groupNames"
        rows={4}
        aria-required
        autoFocus
        hint={texts.hint}
        error={problem}
      />
    </FormDialog>
  );
}
