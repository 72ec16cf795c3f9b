import { rich, type Strings } from './kit.ts';

export const editorPage = {
  deletedText: 'Someone deleted this. Your text is still in the form: copy it to create a new one.',
  useTheirs: 'Use their version',
  saveMine: 'Save my version',
};

export const checks = {
  macro: 'This must be “!” followed by letters, digits, “_” or “-”, at most 100 characters in all.',
  noShortId: 'This must contain “{short id}”, so that each session gets its own branch.',
  notBranch: 'This must be a branch name with no placeholders other than “{slug}” and “{short id}”.',
  notJson: ({ message }: Strings<'message'>) => `This is not valid JSON: ${message}`,
};

export const editor = {
  viewLegend: ({ label }: Strings<'label'>) => `${label}: view`,
  write: 'Write',
  preview: 'Preview',
  nothingToPreview: 'Nothing to preview.',
};

export const restored = {
  discarded: 'Your changes were discarded.',
  restored: rich('Your unsaved changes were restored. <button>Discard changes</button>'),
};

export const savedMeanwhile = {
  savedBy: rich('{name} saved changes while you were editing'),
  savedBySomebody: 'Someone else saved changes while you were editing',
  theirsTaken: 'The form shows their version.',
  checkFailed: 'We couldn’t check for newer changes, so nothing was saved. Try again.',
  nothingOverwritten: rich(
    'They saved {time}. Nothing was overwritten, and your changes are still in the form. Their changes:',
  ),
};

export const shownOnce = {
  copied: ({ label }: Strings<'label'>) => `${label} copied.`,
  saved: 'I’ve saved it',
  saveNow: 'Save it now. You won’t be able to view it again.',
  copyAsCurl: 'Copy as curl',
  copyRefused: 'Your browser doesn’t allow copying here. Select the text and copy it.',
};
