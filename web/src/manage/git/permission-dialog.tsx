import { useState } from 'react';
import { graphql } from 'react-relay';
import type { permissionDialogMutation } from '../../__generated__/permissionDialogMutation.graphql.ts';
import { useMutation } from '../../relay/use-mutation.ts';
import { common } from '../../texts/common.ts';
import { permissionDialog as texts } from '../../texts/git.ts';
import { errorOf, Select, TextField } from '../../ui/field.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { visible } from '../../ui/visible.ts';
import { FormDialog, type FormFields, type FormProblem } from '../kit/kit.ts';
import { type TargetKind, targetKinds } from './permission-target.ts';

interface PermissionDialogProps {
  readonly organizationId: string;
  readonly connections: readonly { readonly gitConnectionId: string; readonly name: string }[];
  /** The list to which the permission is added. */
  readonly listId: string;
  readonly onClose: () => void;
}

const fieldNames = ['gitConnectionId', 'repoPath', 'groupPrefix', 'prefixPath', 'isReadOnly'];

/** Allows an organization to use repositories of a connection. */
export function PermissionDialog({ organizationId, connections, listId, onClose }: PermissionDialogProps) {
  const toasts = useToasts();
  const [kind, setKind] = useState<TargetKind>('groupPrefix');
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [create, isBusy] = useMutation<permissionDialogMutation>(
    graphql`
      mutation permissionDialogMutation($input: CreateGitPermissionInput!, $lists: [ID!]!) {
        createGitPermission(input: $input) {
          gitPermissionEdge @prependEdge(connections: $lists) {
            node {
              ...permissionList_permission
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
  const submit = async (fields: FormFields) => {
    const { errors: refused } = await create({
      input: {
        organizationId,
        gitConnectionId: fields.text('gitConnectionId'),
        [kind]: fields.text('path'),
        isReadOnly: fields.text('access') === 'read',
      },
      lists: [listId],
    });
    setErrors(refused);
    if (refused !== null) return;
    toasts.say(texts.added);
    onClose();
  };
  const { field, example } = targetKinds[kind];
  return (
    <FormDialog
      title={texts.addTitle}
      submitLabel={texts.addTitle}
      isBusy={isBusy}
      errors={errors}
      fieldNames={fieldNames}
      onClose={onClose}
      onSubmit={(fields) => void submit(fields)}
    >
      <Select label={texts.connection} name="gitConnectionId" error={errorOf(errors, 'gitConnectionId')}>
        {connections.map(({ gitConnectionId, name }) => (
          <option value={gitConnectionId} key={gitConnectionId}>
            {visible(name)}
          </option>
        ))}
      </Select>
      <Select label={common.repositories} value={kind} onChange={({ target }) => setKind(target.value as TargetKind)}>
        {Object.entries(targetKinds).map(([value, { label }]) => (
          <option value={value} key={value}>
            {label}
          </option>
        ))}
      </Select>
      <TextField
        label={field}
        name="path"
        required
        spellCheck={false}
        placeholder={example}
        hint={kind === 'groupPrefix' ? texts.pathHint : undefined}
        error={errorOf(errors, kind)}
      />
      <Select label={texts.access} name="access">
        <option value="write">{texts.cloneAndPush}</option>
        <option value="read">{texts.readOnly}</option>
      </Select>
    </FormDialog>
  );
}
