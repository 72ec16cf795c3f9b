import { prefixedId } from '../../../domain/ids.ts';
import { type FolderRecord, foldersIn, foldersOf } from '../../../domain/library/knowledge/folders.ts';
import { type NoteRecord, notesIn, notesOf } from '../../../domain/library/knowledge/notes.ts';
import { builder } from '../builder.ts';
import { nestedConnection } from '../connections.ts';
import { countedConnectionAndEdge } from './counted-connection.ts';
import { Enterprise } from './enterprise-ref.ts';
import {
  KnowledgeFolderFilterInput,
  KnowledgeFolderOrderInput,
  KnowledgeNoteFilterInput,
  KnowledgeNoteOrderInput,
  parseFolderFilter,
  parseNoteFilter,
} from './knowledge-filters.ts';
import { listArgs } from './list-inputs.ts';
import { boundary } from './needs.ts';
import { Organization } from './organization-ref.ts';
import { authorshipFields } from './principals.ts';
import { ownerDescription } from './scope-input.ts';

export const KnowledgeNote = builder.objectRef<NoteRecord>('KnowledgeNote');
export const KnowledgeFolder = builder.objectRef<FolderRecord>('KnowledgeFolder');

/** KnowledgeNoteConnection and KnowledgeNoteEdge. */
export const { connection: KnowledgeNoteConnection, edge: KnowledgeNoteEdge } = countedConnectionAndEdge(
  KnowledgeNote,
  'KnowledgeNote',
  {
    page: 'A page of knowledge notes.',
    edge: 'A knowledge note in a list, with its cursor.',
  },
);
/** KnowledgeFolderConnection and KnowledgeFolderEdge. */
export const { connection: KnowledgeFolderConnection, edge: KnowledgeFolderEdge } = countedConnectionAndEdge(
  KnowledgeFolder,
  'KnowledgeFolder',
  {
    page: 'A page of knowledge folders.',
    edge: 'A knowledge folder in a list, with its cursor.',
  },
);

builder.node(KnowledgeNote, {
  description: 'A note with knowledge for agents, and the situation in which an agent should read the note.',
  id: { resolve: ({ id }) => id, description: 'Global ID of the note, unique across all types.' },
  fields: (t) => ({
    knowledgeNoteId: t.string({
      description: 'REST id of the note (`note-…`).',
      resolve: ({ id }) => prefixedId('note', id),
    }),
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
      resolve: ({ folderId }, _args, { loaders }) => (folderId === null ? null : loaders.folders.load(folderId)),
    }),
    organization: t.field({
      type: Organization,
      nullable: true,
      description: ownerDescription,
      resolve: ({ organizationId }, _args, { loaders }) =>
        organizationId === null ? null : loaders.organizations.load(organizationId),
    }),
    ...authorshipFields(t),
  }),
});

builder.node(KnowledgeFolder, {
  description: 'A folder of knowledge notes. Folders can contain other folders, at most 8 levels deep.',
  id: { resolve: ({ id }) => id, description: 'Global ID of the folder, unique across all types.' },
  fields: (t) => ({
    knowledgeFolderId: t.string({
      description: 'REST id of the folder (`folder-…`).',
      resolve: ({ id }) => prefixedId('folder', id),
    }),
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
      resolve: ({ parentId }, _args, { loaders }) => (parentId === null ? null : loaders.folders.load(parentId)),
    }),
    notes: t.connection(
      {
        type: KnowledgeNote,
        description:
          'Notes directly in the folder, without those of its subfolders. Newest first unless `orderBy` says otherwise.',
        args: listArgs(t.arg, KnowledgeNoteFilterInput, KnowledgeNoteOrderInput),
        resolve: async (folder, args, context) => {
          const list = notesIn(context.domain, folder, parseNoteFilter(args.filter), args.orderBy);
          return nestedConnection(context, list, args);
        },
      },
      KnowledgeNoteConnection,
    ),
    children: t.connection(
      {
        type: KnowledgeFolder,
        description: 'Direct subfolders of the folder. Newest first unless `orderBy` says otherwise.',
        args: listArgs(t.arg, KnowledgeFolderFilterInput, KnowledgeFolderOrderInput),
        resolve: async (folder, args, context) => {
          const list = foldersIn(context.domain, folder, parseFolderFilter(args.filter), args.orderBy);
          return nestedConnection(context, list, args);
        },
      },
      KnowledgeFolderConnection,
    ),
    organization: t.field({
      type: Organization,
      nullable: true,
      description: ownerDescription,
      resolve: ({ organizationId }, _args, { loaders }) =>
        organizationId === null ? null : loaders.organizations.load(organizationId),
    }),
    ...authorshipFields(t),
  }),
});

builder.objectFields(Organization, (t) => ({
  knowledgeNotes: t.connection(
    {
      type: KnowledgeNote,
      ...boundary('viewKnowledge'),
      description: 'Notes of the organization. Newest first unless `orderBy` says otherwise.',
      args: listArgs(t.arg, KnowledgeNoteFilterInput, KnowledgeNoteOrderInput),
      resolve: async ({ id }, args, context) => {
        const list = notesOf(context.domain, id, parseNoteFilter(args.filter), args.orderBy);
        return nestedConnection(context, list, args);
      },
    },
    KnowledgeNoteConnection,
  ),
  knowledgeFolders: t.connection(
    {
      type: KnowledgeFolder,
      ...boundary('viewKnowledge'),
      description: 'Folders of notes of the organization. Newest first unless `orderBy` says otherwise.',
      args: listArgs(t.arg, KnowledgeFolderFilterInput, KnowledgeFolderOrderInput),
      resolve: async ({ id }, args, context) => {
        const list = foldersOf(context.domain, id, parseFolderFilter(args.filter), args.orderBy);
        return nestedConnection(context, list, args);
      },
    },
    KnowledgeFolderConnection,
  ),
}));

builder.objectFields(Enterprise, (t) => ({
  knowledgeNotes: t.connection(
    {
      type: KnowledgeNote,
      ...boundary('changeEnterpriseKnowledge'),
      description:
        'Notes of the enterprise and of all its organizations. Newest first unless `orderBy` says otherwise.',
      args: listArgs(t.arg, KnowledgeNoteFilterInput, KnowledgeNoteOrderInput),
      resolve: async (_enterprise, args, context) => {
        const list = notesOf(context.domain, null, parseNoteFilter(args.filter), args.orderBy);
        return nestedConnection(context, list, args);
      },
    },
    KnowledgeNoteConnection,
  ),
  knowledgeFolders: t.connection(
    {
      type: KnowledgeFolder,
      ...boundary('changeEnterpriseKnowledge'),
      description:
        'Folders of the enterprise and of all its organizations. Newest first unless `orderBy` says otherwise.',
      args: listArgs(t.arg, KnowledgeFolderFilterInput, KnowledgeFolderOrderInput),
      resolve: async (_enterprise, args, context) => {
        const list = foldersOf(context.domain, null, parseFolderFilter(args.filter), args.orderBy);
        return nestedConnection(context, list, args);
      },
    },
    KnowledgeFolderConnection,
  ),
}));
