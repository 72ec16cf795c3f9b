import type { FolderFilter } from '../../../domain/library/knowledge/folders.ts';
import { AccessTypeEnum } from './enums.ts';
import { createdBounds, createdMembers, filterInput, orderInput, parseListFilter, readId } from './list-inputs.ts';
import { accessTypeDescription } from './scope-input.ts';

/** The input KnowledgeNoteFilter, which all lists of notes take. */
export const KnowledgeNoteFilterInput = filterInput('KnowledgeNote', (t) => ({
  search: t.string({
    description: 'Only notes whose name, trigger or body contains this text, regardless of case.',
  }),
  folderId: t.id({ description: 'Only notes directly in this folder. Global ID or REST id.' }),
  folderPath: t.string({
    description:
      'Only notes directly in the folder with this path, for example `Backend/Databases`. `/` stands for notes without a folder.',
  }),
  pinnedRepo: t.string({
    description: 'Only notes pinned to this repository, for example `owner/repo`, or to `all` repositories.',
  }),
  accessType: t.field({ type: AccessTypeEnum, description: accessTypeDescription }),
  isEnabled: t.boolean({ description: 'If true, only notes that agents receive. If false, only disabled notes.' }),
  ...createdMembers(t),
}));

/** The input KnowledgeNoteOrder, which all lists of notes take. */
export const KnowledgeNoteOrderInput = orderInput('KnowledgeNote', 'Time when the note was created.', {
  name: 'The first 64 characters of the name, regardless of case.',
});

/** The input KnowledgeFolderFilter, which all lists of folders take. */
export const KnowledgeFolderFilterInput = filterInput('KnowledgeFolder', (t) => ({
  search: t.string({ description: 'Only folders whose name contains this text, regardless of case.' }),
  parentId: t.id({ description: 'Only direct subfolders of this folder. Global ID or REST id.' }),
  hasParent: t.boolean({ description: 'If true, only subfolders. If false, only top-level folders.' }),
  accessType: t.field({ type: AccessTypeEnum, description: accessTypeDescription }),
  ...createdBounds(t),
}));

/** The input KnowledgeFolderOrder, which all lists of folders take. */
export const KnowledgeFolderOrderInput = orderInput('KnowledgeFolder', 'Time when the folder was created.', {
  name: 'The first 64 characters of the name, regardless of case.',
});

/** Converts a filter of folders to the domain's form. */
export function parseFolderFilter(
  filter: typeof KnowledgeFolderFilterInput.$inferInput | null | undefined,
): FolderFilter {
  return { ...parseListFilter(filter), parentId: readId('folder', filter?.parentId) };
}
