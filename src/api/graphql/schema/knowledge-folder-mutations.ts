import { globalId } from '../../../domain/ids.ts';
import {
  createFolder,
  deleteFolder,
  type FolderChange,
  updateFolder,
} from '../../../domain/library/knowledge/change-folders.ts';
import { addMutation } from './add-mutation.ts';
import { KnowledgeFolder } from './knowledge.ts';
import { readScope, ScopeInput, scopeDescription } from './scope-input.ts';

const folderDescriptions = {
  knowledgeFolderId: 'Global ID or REST id of the folder (`folder-…`).',
  name: 'Name of the folder: 1 to 200 characters without "/". Unique among the folders with the same parent, ignoring case.',
  description: 'Description of the contents of the folder; null for none. Maximum 2,000 characters.',
  parentId:
    'Global ID or REST id of the parent folder (`folder-…`), which must have the same owner; null for none. Folders nest at most 8 levels deep.',
} as const;

/** The payload of createKnowledgeFolder. */
export const CreateKnowledgeFolderPayload = addMutation('createKnowledgeFolder', {
  description:
    'Creates a knowledge folder in an organization or in the enterprise. Each of them has at most 1,000 folders.',
  needs: [['changeKnowledge', 'changeEnterpriseKnowledge']],
  input: (t) => ({
    scope: t.field({ type: ScopeInput, required: true, description: scopeDescription }),
    name: t.string({ required: true, description: folderDescriptions.name }),
    description: t.string({ description: folderDescriptions.description }),
    parentId: t.id({ description: folderDescriptions.parentId }),
  }),
  takes: 'idempotencyKey',
  payload: { knowledgeFolder: KnowledgeFolder },
  act: async ({ scope, ...folder }, { domain }, options) => ({
    knowledgeFolder: await createFolder(domain, readScope(scope), folder, options),
  }),
});

addMutation('updateKnowledgeFolder', {
  description: 'Updates a knowledge folder, or moves it with all notes and folders in it.',
  needs: [['changeKnowledge', 'changeEnterpriseKnowledge']],
  input: (t) => ({
    knowledgeFolderId: t.id({ required: true, description: folderDescriptions.knowledgeFolderId }),
    name: t.string({ description: `${folderDescriptions.name} Must not be null.` }),
    description: t.string({ description: folderDescriptions.description }),
    parentId: t.id({ description: folderDescriptions.parentId }),
  }),
  takes: 'expectedVersion',
  payload: { knowledgeFolder: KnowledgeFolder },
  act: async ({ knowledgeFolderId, ...change }, { domain }) => ({
    knowledgeFolder: await updateFolder(domain, knowledgeFolderId, change as FolderChange),
  }),
});

addMutation('deleteKnowledgeFolder', {
  description:
    'Deletes a knowledge folder and all folders in it. The notes in these folders are kept, without a folder.',
  needs: [['changeKnowledge', 'changeEnterpriseKnowledge']],
  input: (t) => ({ knowledgeFolderId: t.id({ required: true, description: folderDescriptions.knowledgeFolderId }) }),
  takes: 'expectedVersion',
  payload: { deletedKnowledgeFolderId: 'ID' },
  act: async (input, { domain }) => {
    const { id } = await deleteFolder(domain, input.knowledgeFolderId, undefined, input);
    return { deletedKnowledgeFolderId: globalId('folder', id) };
  },
});
