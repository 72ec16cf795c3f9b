import { useMemo, useState } from 'react';
import { graphql } from 'react-relay';
import type { folderFormCreateMutation } from '../../__generated__/folderFormCreateMutation.graphql.ts';
import type { folderFormUpdateMutation } from '../../__generated__/folderFormUpdateMutation.graphql.ts';
import { useFolderChoices } from '../../pickers/use-folder-choices.ts';
import { useMutation } from '../../relay/use-mutation.ts';
import { common } from '../../texts/common.ts';
import { folderForm as texts } from '../../texts/knowledge.ts';
import { errorOf, TextField } from '../../ui/field.tsx';
import { Picker } from '../../ui/picker.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import type { ChoiceSource } from '../../ui/use-choices.ts';
import { FormDialog, type FormFields, type FormProblem } from '../kit/kit.ts';
import type { Folder } from './folder.ts';

interface FolderFormProps {
  readonly organizationId: string;
  /** The folder to change; null: a new one. */
  readonly folder: Folder | null;
  /** The parent of a new folder. */
  readonly parent: Folder | null;
  readonly connections: readonly string[];
  readonly onClose: () => void;
}

/** Creates, renames or moves a folder of notes. */
export function FolderForm({ organizationId, folder, parent, connections, onClose }: FolderFormProps) {
  const toasts = useToasts();
  const parents = useParents(organizationId, folder);
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [create, isCreating] = useMutation<folderFormCreateMutation>(
    graphql`
      mutation folderFormCreateMutation($input: CreateKnowledgeFolderInput!, $connections: [ID!]!) {
        createKnowledgeFolder(input: $input) {
          knowledgeFolderEdge @prependEdge(connections: $connections) {
            node {
              id
              name
              path
              description
              parent {
                id
              }
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
  const [update, isUpdating] = useMutation<folderFormUpdateMutation>(
    graphql`
      mutation folderFormUpdateMutation($input: UpdateKnowledgeFolderInput!) {
        updateKnowledgeFolder(input: $input) {
          knowledgeFolder {
            id
            name
            path
            description
            parent {
              id
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
    const input = {
      name: fields.text('name'),
      description: fields.textOrNull('description'),
      parentId: fields.textOrNull('parentId'),
    };
    const { errors: refused } = folder
      ? await update({ input: { ...input, knowledgeFolderId: folder.id } })
      : await create({ input: { ...input, scope: { organizationId } }, connections });
    setErrors(refused);
    if (refused !== null) return;
    toasts.say(common.savedName({ name: input.name }));
    onClose();
  };
  return (
    <FormDialog
      title={folder ? common.editName({ name: folder.name }) : texts.newFolder}
      submitLabel={folder ? common.save : texts.create}
      isBusy={isCreating || isUpdating}
      errors={errors}
      fieldNames={['name', 'description', 'parentId']}
      onClose={onClose}
      onSubmit={(fields) => void submit(fields)}
    >
      <TextField
        label={common.name}
        name="name"
        required
        autoFocus
        defaultValue={folder?.name}
        error={errorOf(errors, 'name')}
      />
      <TextField
        label={common.description}
        name="description"
        defaultValue={folder?.description ?? ''}
        error={errorOf(errors, 'description')}
      />
      <Picker
        label={texts.parentFolder}
        name="parentId"
        none={common.none}
        source={parents}
        defaultValue={(folder ? folder.parent?.id : parent?.id) ?? ''}
        valueLabel={folder ? pathAbove(folder) : parent?.path}
        error={errorOf(errors, 'parentId')}
      />
    </FormDialog>
  );
}

/** The possible parents of a folder: all except itself and its descendants. */
function useParents(organizationId: string, folder: Folder | null): ChoiceSource {
  const all = useFolderChoices(organizationId);
  const path = folder?.path ?? null;
  return useMemo<ChoiceSource>(
    () => async (after) => {
      const { choices, next } = await all(after);
      return { choices: choices.filter(({ label }) => !isWithin(label, path)), next };
    },
    [all, path],
  );
}

const isWithin = (path: string, other: string | null) => other !== null && `${path}/`.startsWith(`${other}/`);
const pathAbove = ({ path, name }: Folder) => path.slice(0, -name.length - 1);
