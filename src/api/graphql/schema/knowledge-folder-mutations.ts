import { globalId } from '../../../domain/ids.ts';
import {
  createFolder,
  deleteFolder,
  type FolderChange,
  updateFolder,
} from '../../../domain/library/knowledge/change-folders.ts';
import type { FolderRecord } from '../../../domain/library/knowledge/folders.ts';
import { builder } from '../builder.ts';
import { addMutation } from './add-mutation.ts';
import { KnowledgeFolder } from './knowledge.ts';
import {
  clientMutationIdDescription,
  expectedVersionDescription,
  idempotencyKeyDescription,
  keyedPayloadType,
  payloadType,
} from './payloads.ts';
import { readScope, ScopeInput, scopeDescription } from './scope-input.ts';

const folderDescriptions = {
  knowledgeFolderId: 'Global ID or REST id of the folder (`folder-…`).',
  name: 'Name of the folder: 1 to 200 characters without "/". Unique among the folders with the same parent, ignoring case.',
  description: 'Description of the contents of the folder; null for none. Maximum 2,000 characters.',
  parentId:
    'Global ID or REST id of the parent folder (`folder-…`), which must have the same owner; null for none. Folders nest at most 8 levels deep.',
} as const;

const CreateKnowledgeFolderInput = builder.inputType('CreateKnowledgeFolderInput', {
  description: 'Properties of the knowledge folder to create.',
  fields: (t) => ({
    scope: t.field({ type: ScopeInput, required: true, description: scopeDescription }),
    name: t.string({ required: true, description: folderDescriptions.name }),
    description: t.string({ description: folderDescriptions.description }),
    parentId: t.id({ description: folderDescriptions.parentId }),
    idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

/** The payload of createKnowledgeFolder. */
export const CreateKnowledgeFolderPayload = keyedPayloadType<{ knowledgeFolder: FolderRecord }>(
  'CreateKnowledgeFolderPayload',
  'Result of creating a knowledge folder.',
  (t) => ({
    knowledgeFolder: t.expose('knowledgeFolder', {
      type: KnowledgeFolder,
      nullable: true,
      description: 'The new folder; null if there are user errors.',
    }),
  }),
);

const UpdateKnowledgeFolderInput = builder.inputType('UpdateKnowledgeFolderInput', {
  description: 'Changes to a knowledge folder. Fields that are left out keep their values.',
  fields: (t) => ({
    knowledgeFolderId: t.id({ required: true, description: folderDescriptions.knowledgeFolderId }),
    name: t.string({ description: `${folderDescriptions.name} Must not be null.` }),
    description: t.string({ description: folderDescriptions.description }),
    parentId: t.id({ description: folderDescriptions.parentId }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const UpdateKnowledgeFolderPayload = payloadType<{ knowledgeFolder: FolderRecord }>(
  'UpdateKnowledgeFolderPayload',
  'Result of updating a knowledge folder.',
  (t) => ({
    knowledgeFolder: t.expose('knowledgeFolder', {
      type: KnowledgeFolder,
      nullable: true,
      description: 'The folder after the change; null if there are user errors.',
    }),
  }),
);

const DeleteKnowledgeFolderInput = builder.inputType('DeleteKnowledgeFolderInput', {
  description: 'The knowledge folder to delete.',
  fields: (t) => ({
    knowledgeFolderId: t.id({ required: true, description: folderDescriptions.knowledgeFolderId }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const DeleteKnowledgeFolderPayload = payloadType<{ deletedKnowledgeFolderId: string }>(
  'DeleteKnowledgeFolderPayload',
  'Result of deleting a knowledge folder.',
  (t) => ({
    deletedKnowledgeFolderId: t.expose('deletedKnowledgeFolderId', {
      type: 'ID',
      nullable: true,
      description: 'Global ID of the deleted folder; null if there are user errors.',
    }),
  }),
);

addMutation('createKnowledgeFolder', {
  input: CreateKnowledgeFolderInput,
  payload: CreateKnowledgeFolderPayload,
  needs: [['changeKnowledge', 'changeEnterpriseKnowledge']],
  description:
    'Creates a knowledge folder in an organization or in the enterprise. Each of them has at most 1,000 folders.',
  act: async (input, context, options) => {
    const { scope, idempotencyKey: _key, clientMutationId: _mutation, ...folder } = input;
    return {
      knowledgeFolder: await createFolder(context.domain, readScope(scope), folder, options),
    };
  },
});

addMutation('updateKnowledgeFolder', {
  input: UpdateKnowledgeFolderInput,
  payload: UpdateKnowledgeFolderPayload,
  needs: [['changeKnowledge', 'changeEnterpriseKnowledge']],
  description: 'Updates a knowledge folder, or moves it with all notes and folders in it.',
  act: async (input, { domain }) => {
    const { knowledgeFolderId, clientMutationId: _mutation, ...change } = input;
    return { knowledgeFolder: await updateFolder(domain, knowledgeFolderId, change as FolderChange) };
  },
});

addMutation('deleteKnowledgeFolder', {
  input: DeleteKnowledgeFolderInput,
  payload: DeleteKnowledgeFolderPayload,
  needs: [['changeKnowledge', 'changeEnterpriseKnowledge']],
  description:
    'Deletes a knowledge folder and all folders in it. The notes in these folders are kept, without a folder.',
  act: async (input, { domain }) => {
    const { id } = await deleteFolder(domain, input.knowledgeFolderId, undefined, input);
    return { deletedKnowledgeFolderId: globalId('folder', id) };
  },
});
