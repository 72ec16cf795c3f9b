import { globalId } from '../../domain/ids.ts';
import { createFolder, deleteFolder, type FolderChange, updateFolder } from '../../domain/knowledge/change-folders.ts';
import type { FolderRecord } from '../../domain/knowledge/folders.ts';
import { builder } from '../builder.ts';
import { addMutation } from './add-mutation.ts';
import { KnowledgeFolder } from './knowledge.ts';
import {
  clientMutationIdDescription,
  expectedVersionDescription,
  idempotencyKeyDescription,
  idempotencyKeyOf,
  payloadType,
} from './payloads.ts';
import { readScope, ScopeInput, scopeDescription } from './places.ts';

const folderDescriptions = {
  knowledgeFolderId: 'The folder: its global ID, or any form of its id.',
  name: 'What to call it: 1 to 200 characters without "/", and not as another folder beside it.',
  description: 'What is in it, in words: at most 2,000 characters.',
  parentId:
    'The folder of the same place that it is in, by any form of its id; null: in none. Folders nest at most 8 deep.',
} as const;

const CreateKnowledgeFolderInput = builder.inputType('CreateKnowledgeFolderInput', {
  description: 'What a folder is made from.',
  fields: (t) => ({
    scope: t.field({ type: ScopeInput, required: true, description: scopeDescription }),
    name: t.string({ required: true, description: folderDescriptions.name }),
    description: t.string({ description: folderDescriptions.description }),
    parentId: t.id({ description: folderDescriptions.parentId }),
    idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const CreateKnowledgeFolderPayload = payloadType<{ knowledgeFolder: FolderRecord }>(
  'CreateKnowledgeFolderPayload',
  'A folder that was made.',
  (t) => ({
    knowledgeFolder: t.expose('knowledgeFolder', { type: KnowledgeFolder, nullable: true, description: 'The folder.' }),
  }),
);

const UpdateKnowledgeFolderInput = builder.inputType('UpdateKnowledgeFolderInput', {
  description: 'How a folder is to change, or where it is to be: what is left out stays.',
  fields: (t) => ({
    knowledgeFolderId: t.id({ required: true, description: folderDescriptions.knowledgeFolderId }),
    name: t.string({ description: `${folderDescriptions.name} Not null.` }),
    description: t.string({ description: folderDescriptions.description }),
    parentId: t.id({ description: folderDescriptions.parentId }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const UpdateKnowledgeFolderPayload = payloadType<{ knowledgeFolder: FolderRecord }>(
  'UpdateKnowledgeFolderPayload',
  'A folder that was changed.',
  (t) => ({
    knowledgeFolder: t.expose('knowledgeFolder', { type: KnowledgeFolder, nullable: true, description: 'The folder.' }),
  }),
);

const DeleteKnowledgeFolderInput = builder.inputType('DeleteKnowledgeFolderInput', {
  description: 'Which folder is to be deleted.',
  fields: (t) => ({
    knowledgeFolderId: t.id({ required: true, description: folderDescriptions.knowledgeFolderId }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const DeleteKnowledgeFolderPayload = payloadType<{ deletedKnowledgeFolderId: string }>(
  'DeleteKnowledgeFolderPayload',
  'A folder that was deleted.',
  (t) => ({
    deletedKnowledgeFolderId: t.expose('deletedKnowledgeFolderId', {
      type: 'ID',
      nullable: true,
      description: 'The global ID of what is gone.',
    }),
  }),
);

addMutation('createKnowledgeFolder', {
  input: CreateKnowledgeFolderInput,
  payload: CreateKnowledgeFolderPayload,
  needs: [['changeKnowledge', 'changeEnterpriseKnowledge']],
  description: 'Makes a folder.',
  act: async (input, context, info) => {
    const { scope, idempotencyKey: _key, clientMutationId: _mutation, ...folder } = input;
    return {
      knowledgeFolder: await createFolder(context.domain, readScope(scope), folder, {
        idempotencyKey: idempotencyKeyOf(context, input, info),
      }),
    };
  },
});

addMutation('updateKnowledgeFolder', {
  input: UpdateKnowledgeFolderInput,
  payload: UpdateKnowledgeFolderPayload,
  needs: [['changeKnowledge', 'changeEnterpriseKnowledge']],
  description: 'Changes or moves a folder, with all that is in it.',
  act: async (input, { domain }) => {
    const { knowledgeFolderId, clientMutationId: _mutation, ...change } = input;
    return { knowledgeFolder: await updateFolder(domain, knowledgeFolderId, change as FolderChange) };
  },
});

addMutation('deleteKnowledgeFolder', {
  input: DeleteKnowledgeFolderInput,
  payload: DeleteKnowledgeFolderPayload,
  needs: [['changeKnowledge', 'changeEnterpriseKnowledge']],
  description: 'Deletes a folder and the folders in it; their notes are then in no folder.',
  act: async (input, { domain }) => {
    const { id } = await deleteFolder(domain, input.knowledgeFolderId, undefined, input);
    return { deletedKnowledgeFolderId: globalId('folder', id) };
  },
});
