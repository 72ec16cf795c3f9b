import type { Strings } from './kit.ts';

export const folderForm = {
  newFolder: 'New folder',
  create: 'Create folder',
  parentFolder: 'Parent folder',
};

export const knowledgePage = {
  newNote: 'New note',
  searchPlaceholder: 'Name, trigger or text',
  showMoreFolders: 'Show more folders',
  folders: 'Folders',
  allNotes: 'All notes',
  noFolder: 'No folder',
  newFolder: 'New folder',
  deleteFolderTitle: ({ name }: Strings<'name'>) => `Delete the folder ${name}?`,
  deleteFolderText: 'Only empty folders can be deleted. Move or delete its notes and folders first.',
};

export const notePage = {
  noteNotFound: 'Note not found',
  labels: {
    name: 'Name',
    trigger: 'Trigger',
    macro: 'Macro',
    pinnedRepo: 'Pinned repository',
    folderId: 'Folder',
    isEnabled: 'Enabled',
    body: 'Text',
  },
  newEnterpriseNote: 'New enterprise note',
  create: 'Create note',
  newNote: 'New note',
  triggerExample: 'When working on the billing service',
  triggerHint: 'Describe the tasks for which agents need this note.',
  macroExample: '!billing',
  pinnedRepositoryPlaceholder: 'owner/repo, or all',
  pinnedRepositoryHint: 'Agents that work on this repository always get this note.',
};

export const notes = {
  inFolder: ({ path }: Strings<'path'>) => `in ${path}`,
  macro: 'Macro',
  notes: 'Notes',
  noMatchesText: 'Change the search, or select another folder.',
  noNotesYet: 'No notes yet',
  emptyText: 'Notes give agents context when the trigger matches their task. Create one to share what your team knows.',
  deleteText: 'Agents will no longer get this note. This can’t be undone.',
};
