import { prefixedId } from '../../domain/ids.ts';
import { type FolderRecord, foldersIn, foldersOf } from '../../domain/knowledge/folders.ts';
import { type NoteRecord, notesIn, notesOf } from '../../domain/knowledge/notes.ts';
import { builder } from '../builder.ts';
import { nestedConnection } from '../connections.ts';
import { countedConnection } from './counted-connection.ts';
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
import { ownerDescription } from './places.ts';
import { authorshipFields } from './principals.ts';

/** KnowledgeNote of the contract. */
export const KnowledgeNote = builder.objectRef<NoteRecord>('KnowledgeNote');
/** KnowledgeFolder of the contract. */
export const KnowledgeFolder = builder.objectRef<FolderRecord>('KnowledgeFolder');

const KnowledgeNoteConnection = countedConnection(KnowledgeNote, 'KnowledgeNote', {
  page: 'A page of notes.',
  edge: 'A note in a list.',
});
const KnowledgeFolderConnection = countedConnection(KnowledgeFolder, 'KnowledgeFolder', {
  page: 'A page of folders.',
  edge: 'A folder in a list.',
});

builder.node(KnowledgeNote, {
  description: 'What agents should know, and when.',
  id: { resolve: ({ id }) => id, description: 'The global ID.' },
  fields: (t) => ({
    knowledgeNoteId: t.string({
      description: 'The id as REST writes it.',
      resolve: ({ id }) => prefixedId('note', id),
    }),
    name: t.exposeString('name', { description: 'What it is called.' }),
    body: t.exposeString('body', { description: 'What there is to know.' }),
    trigger: t.exposeString('trigger', { description: 'When an agent should read it.' }),
    pinnedRepo: t.exposeString('pinnedRepo', {
      nullable: true,
      description: 'The repository that it is pinned to, as "owner/repo", or "all"; null: it is not pinned.',
    }),
    macro: t.exposeString('macro', { nullable: true, description: 'Its shortcut, with its "!".' }),
    isEnabled: t.exposeBoolean('isEnabled', { description: 'Whether agents are told of it.' }),
    folder: t.field({
      type: KnowledgeFolder,
      nullable: true,
      description: 'The folder that it is in; null: in none.',
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
  description: 'A folder of notes. Folders nest.',
  id: { resolve: ({ id }) => id, description: 'The global ID.' },
  fields: (t) => ({
    knowledgeFolderId: t.string({
      description: 'The id as REST writes it.',
      resolve: ({ id }) => prefixedId('folder', id),
    }),
    name: t.exposeString('name', { description: 'What it is called: no two beside each other are called the same.' }),
    description: t.exposeString('description', { nullable: true, description: 'What is in it, in words.' }),
    path: t.string({
      description: 'Its name behind those of the folders around it, as "Backend/Databases".',
      resolve: async ({ id, name }, _args, { loaders }) => (await loaders.folderPaths.load(id)) ?? name,
    }),
    parent: t.field({
      type: KnowledgeFolder,
      nullable: true,
      description: 'The folder that it is in; null: in none.',
      resolve: ({ parentId }, _args, { loaders }) => (parentId === null ? null : loaders.folders.load(parentId)),
    }),
    notes: t.connection(
      {
        type: KnowledgeNote,
        description: 'The notes in it, newest first unless ordered otherwise; not those in folders inside it.',
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
        description: 'The folders directly in it, newest first unless ordered otherwise; not those inside them.',
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
      description: 'Its notes, newest first unless ordered otherwise.',
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
      description: 'Its folders of notes, newest first unless ordered otherwise.',
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
      description: 'Its own notes and those of all its organizations, newest first unless ordered otherwise.',
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
      description: 'Its own folders and those of all its organizations, newest first unless ordered otherwise.',
      args: listArgs(t.arg, KnowledgeFolderFilterInput, KnowledgeFolderOrderInput),
      resolve: async (_enterprise, args, context) => {
        const list = foldersOf(context.domain, null, parseFolderFilter(args.filter), args.orderBy);
        return nestedConnection(context, list, args);
      },
    },
    KnowledgeFolderConnection,
  ),
}));
