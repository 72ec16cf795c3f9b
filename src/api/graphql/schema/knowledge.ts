import { type FolderRecord, findFolders, foldersIn, foldersOf } from '../../../domain/library/knowledge/folders.ts';
import { type NoteRecord, notesIn, notesOf } from '../../../domain/library/knowledge/notes.ts';
import { builder } from '../builder.ts';
import { addList, listTypes } from './add-list.ts';
import { Enterprise } from './enterprise-ref.ts';
import {
  KnowledgeFolderFilterInput,
  KnowledgeFolderOrderInput,
  KnowledgeNoteFilterInput,
  KnowledgeNoteOrderInput,
  parseFolderFilter,
} from './knowledge-filters.ts';
import { parseListFilter } from './list-inputs.ts';
import { Organization, organizationField, restIdField } from './organization-ref.ts';
import { authorshipFields } from './principals.ts';
import { ownerDescription } from './scope-input.ts';

export const KnowledgeNote = builder.objectRef<NoteRecord>('KnowledgeNote');
export const KnowledgeFolder = builder.objectRef<FolderRecord>('KnowledgeFolder');

/** The types of lists of KnowledgeNote. */
export const KnowledgeNoteList = listTypes(KnowledgeNote, 'KnowledgeNote');
/** The types of lists of KnowledgeFolder. */
export const KnowledgeFolderList = listTypes(KnowledgeFolder, 'KnowledgeFolder');

builder.node(KnowledgeNote, {
  description: 'A note with knowledge for agents, and the situation in which an agent should read the note.',
  id: { resolve: ({ id }) => id, description: 'Global ID of the note, unique across all types.' },
  fields: (t) => ({
    knowledgeNoteId: restIdField(t, 'note', 'REST id of the note (`note-…`).'),
    name: t.exposeString('name', { description: 'Name of the note, which need not be unique.' }),
    body: t.exposeString('body', { description: 'Text of the note, which agents read.' }),
    trigger: t.exposeString('trigger', {
      description: 'Description of the situation in which an agent should read the note.',
    }),
    pinnedRepo: t.exposeString('pinnedRepo', {
      nullable: true,
      description:
        'Repository to which the note is pinned, for example `owner/repo`, or `all` for every repository; null if the note is not pinned.',
    }),
    macro: t.exposeString('macro', {
      nullable: true,
      description: 'Shortcut of the note, for example `!deploy`; null if the note has none.',
    }),
    isEnabled: t.exposeBoolean('isEnabled', { description: 'Whether agents are given the note.' }),
    folder: t.field({
      type: KnowledgeFolder,
      nullable: true,
      description: 'Folder that contains the note; null if the note is in no folder.',
      resolve: ({ folderId }, _args, { loaders }) =>
        folderId === null ? null : loaders.of(findFolders).load(folderId),
    }),
    organization: organizationField(t, ownerDescription),
    ...authorshipFields(t),
  }),
});

builder.node(KnowledgeFolder, {
  description: 'A folder of knowledge notes. Folders can contain other folders, at most 8 levels deep.',
  id: { resolve: ({ id }) => id, description: 'Global ID of the folder, unique across all types.' },
  fields: (t) => ({
    knowledgeFolderId: restIdField(t, 'folder', 'REST id of the folder (`folder-…`).'),
    name: t.exposeString('name', { description: 'Name of the folder, unique among the folders with the same parent.' }),
    description: t.exposeString('description', {
      nullable: true,
      description: 'Description of the contents of the folder; null if it has none.',
    }),
    path: t.string({
      description: 'Path of the folder: the names of its parents and its own name, for example `Backend/Databases`.',
      resolve: async ({ id, name }, _args, { loaders }) => (await loaders.folderPaths.load(id)) ?? name,
    }),
    parent: t.field({
      type: KnowledgeFolder,
      nullable: true,
      description: 'Parent folder; null if the folder is at the top level.',
      resolve: ({ parentId }, _args, { loaders }) =>
        parentId === null ? null : loaders.of(findFolders).load(parentId),
    }),
    organization: organizationField(t, ownerDescription),
    ...authorshipFields(t),
  }),
});

const notes = { types: KnowledgeNoteList, filter: KnowledgeNoteFilterInput, order: KnowledgeNoteOrderInput };
const folders = { types: KnowledgeFolderList, filter: KnowledgeFolderFilterInput, order: KnowledgeFolderOrderInput };

addList(KnowledgeFolder, 'notes', {
  ...notes,
  description: 'Notes directly in the folder, without those of its subfolders.',
  read: (folder, args, { domain }) => notesIn(domain, folder, parseListFilter(args.filter), args.orderBy),
});

addList(KnowledgeFolder, 'children', {
  ...folders,
  description: 'Direct subfolders of the folder.',
  read: (folder, args, { domain }) => foldersIn(domain, folder, parseFolderFilter(args.filter), args.orderBy),
});

addList(Organization, 'knowledgeNotes', {
  ...notes,
  description: 'Notes of the organization.',
  needs: 'viewKnowledge',
  read: ({ id }, args, { domain }) => notesOf(domain, id, parseListFilter(args.filter), args.orderBy),
});

addList(Organization, 'knowledgeFolders', {
  ...folders,
  description: 'Folders of notes of the organization.',
  needs: 'viewKnowledge',
  read: ({ id }, args, { domain }) => foldersOf(domain, id, parseFolderFilter(args.filter), args.orderBy),
});

addList(Enterprise, 'knowledgeNotes', {
  ...notes,
  description: 'Notes of the enterprise and of all its organizations.',
  needs: 'changeEnterpriseKnowledge',
  read: (_enterprise, args, { domain }) => notesOf(domain, null, parseListFilter(args.filter), args.orderBy),
});

addList(Enterprise, 'knowledgeFolders', {
  ...folders,
  description: 'Folders of the enterprise and of all its organizations.',
  needs: 'changeEnterpriseKnowledge',
  read: (_enterprise, args, { domain }) => foldersOf(domain, null, parseFolderFilter(args.filter), args.orderBy),
});
