import type { FolderFilter } from '../../domain/knowledge/folders.ts';
import type { NoteListFilter } from '../../domain/knowledge/notes.ts';
import { builder } from '../builder.ts';
import { AccessTypeEnum } from './enums.ts';
import { createdBounds, createdMembers, orderInput, parseListFilter, readId } from './list-inputs.ts';
import { accessTypeDescription } from './places.ts';

/** The input KnowledgeNoteFilter, which all lists of notes take. */
export const KnowledgeNoteFilterInput = builder.inputType('KnowledgeNoteFilter', {
  description: 'Narrows a list of notes: all members that are given must hold.',
  fields: (t) => ({
    search: t.string({
      description: 'Only notes whose name, trigger or body contains this text, upper and lower case alike.',
    }),
    folderId: t.id({ description: 'Only notes in this folder itself, by its global ID or any form of its id.' }),
    folderPath: t.string({
      description: 'Only notes in the folder of this path itself, as "Backend/Databases". "/": notes in no folder.',
    }),
    pinnedRepo: t.string({
      description: 'Only notes that are pinned to this: "all", or a repository as the note has it, as "owner/repo".',
    }),
    accessType: t.field({ type: AccessTypeEnum, description: accessTypeDescription }),
    isEnabled: t.boolean({ description: 'Only notes that agents are given, or only others; both when left out.' }),
    ...createdMembers(t),
  }),
});

/** The input KnowledgeNoteOrder, which all lists of notes take. */
export const KnowledgeNoteOrderInput = orderInput('KnowledgeNote', 'When the note was made.', {
  name: 'The first 64 characters of the name, upper and lower case alike.',
});

/** A filter of notes as the domain has it. */
export function parseNoteFilter(
  filter: typeof KnowledgeNoteFilterInput.$inferInput | null | undefined,
): NoteListFilter {
  const { folderId, folderPath, pinnedRepo, accessType, isEnabled } = filter ?? {};
  return {
    ...parseListFilter(filter),
    folderId,
    folderPath,
    pinnedRepo,
    accessType,
    isEnabled: isEnabled ?? undefined,
  };
}

/** The input KnowledgeFolderFilter, which all lists of folders take. */
export const KnowledgeFolderFilterInput = builder.inputType('KnowledgeFolderFilter', {
  description: 'Narrows a list of folders: all members that are given must hold.',
  fields: (t) => ({
    search: t.string({ description: 'Only folders whose name contains this text, upper and lower case alike.' }),
    parentId: t.id({ description: 'Only folders in this folder itself, by its global ID or any form of its id.' }),
    hasParent: t.boolean({ description: 'Only folders that are in another, or only those at the top.' }),
    accessType: t.field({ type: AccessTypeEnum, description: accessTypeDescription }),
    ...createdBounds(t),
  }),
});

/** The input KnowledgeFolderOrder, which all lists of folders take. */
export const KnowledgeFolderOrderInput = orderInput('KnowledgeFolder', 'When the folder was made.', {
  name: 'The first 64 characters of the name, upper and lower case alike.',
});

/** A filter of folders as the domain has it. */
export function parseFolderFilter(
  filter: typeof KnowledgeFolderFilterInput.$inferInput | null | undefined,
): FolderFilter {
  return {
    ...parseListFilter(filter),
    parentId: readId('folder', filter?.parentId),
    hasParent: filter?.hasParent ?? undefined,
    accessType: filter?.accessType ?? undefined,
  };
}
