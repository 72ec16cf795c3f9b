import { useState } from 'react';
import { graphql } from 'react-relay';
import type { folderFormCreateMutation } from '../../__generated__/folderFormCreateMutation.graphql.ts';
import type { folderFormUpdateMutation } from '../../__generated__/folderFormUpdateMutation.graphql.ts';
import { useAct } from '../../relay/use-act.ts';
import { errorOf, Select, TextField } from '../../ui/field.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { FormDialog, type FormProblem, type Given } from '../kit/kit.ts';
import type { Folder } from './folder.ts';

interface FolderFormProps {
  readonly organizationId: string;
  /** The one that is changed; null: a new one. */
  readonly folder: Folder | null;
  /** In which a new one lies. */
  readonly parent: Folder | null;
  readonly folders: readonly Folder[];
  readonly connections: readonly string[];
  readonly onClose: () => void;
}

/** Makes a folder of notes, or calls it differently or puts it elsewhere. */
export function FolderForm({ organizationId, folder, parent, folders, connections, onClose }: FolderFormProps) {
  const toasts = useToasts();
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [create, isCreating] = useAct<folderFormCreateMutation>(
    graphql`
      mutation folderFormCreateMutation($input: CreateKnowledgeFolderInput!, $connections: [ID!]!) {
        createKnowledgeFolder(input: $input) {
          knowledgeFolder @prependNode(connections: $connections, edgeTypeName: "KnowledgeFolderEdge") {
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
  const [update, isUpdating] = useAct<folderFormUpdateMutation>(
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
  const submit = async (given: Given) => {
    const input = {
      name: given.text('name'),
      description: given.word('description'),
      parentId: given.word('parentId'),
    };
    const { errors: refused } = folder
      ? await update({ input: { ...input, knowledgeFolderId: folder.id } })
      : await create({ input: { ...input, organizationId }, connections });
    setErrors(refused);
    if (refused !== null) return;
    toasts.say(`${input.name} is saved.`);
    onClose();
  };
  return (
    <FormDialog
      title={folder ? `Change ${folder.name}` : 'New folder'}
      act="Save"
      isBusy={isCreating || isUpdating}
      errors={errors}
      placed={['name', 'description', 'parentId']}
      onClose={onClose}
      onSubmit={(given) => void submit(given)}
    >
      <TextField
        label="Name"
        name="name"
        required
        autoFocus
        defaultValue={folder?.name}
        error={errorOf(errors, 'name')}
      />
      <TextField
        label="Description"
        name="description"
        defaultValue={folder?.description ?? ''}
        error={errorOf(errors, 'description')}
      />
      <Select
        label="In"
        name="parentId"
        defaultValue={folder?.parent?.id ?? parent?.id ?? ''}
        error={errorOf(errors, 'parentId')}
      >
        <option value="">No other folder</option>
        {folders
          .filter(({ id, path }) => !folder || (id !== folder.id && !path.startsWith(`${folder.path}/`)))
          .map(({ id, path }) => (
            <option value={id} key={id}>
              {path}
            </option>
          ))}
      </Select>
    </FormDialog>
  );
}
