import { writeNumber } from '../ui/number.ts';
import { type Numbers, plural, rich, type Strings } from './kit.ts';

export const changesPanel = {
  fileCount: ({ count }: Numbers<'count'>) => plural(count, { one: '# file', other: '# files' }),
  changes: 'Changes',
  refreshTitle: 'Compare the repositories now, while the agent is working',
  refreshing: 'Refreshing',
  comparing: 'Comparing the repositories',
  writeTitle: 'Go to the message field to send the comments',
  newer: 'Newer changes are available.',
  showNewer: 'Show newer changes',
  loadingTheChanges: 'Loading the changes',
  turn: 'Turn',
  allTurns: 'All turns',
  turnNumber: ({ each }: Numbers<'each'>) => `Turn ${writeNumber(each)}`,
  view: 'View',
  unified: 'Unified',
  sideBySide: 'Side by side',
  base: 'Base',
  emptyRepository: 'empty repository',
  uncommittedChanges: 'uncommitted changes',
  head: 'Head',
  noCommit: 'no commit',
  compared: rich('Compared {time}'),
  limitExceeded: 'The changes exceed a limit: some files have no diff or are missing.',
};

export const diffLines = {
  noNewline: ' ⊘ No newline at end of file',
  moreCharacters: ({ start, count }: Strings<'start' | 'count'>) => `${start} … (${count} more characters)`,
};

export const diffTable = {
  showMoreLines: ({ count }: Numbers<'count'>) =>
    plural(count, { one: 'Show # more line', other: 'Show # more lines' }),
  linesShown: ({ shown, total }: Numbers<'shown' | 'total'>) =>
    `${writeNumber(shown)} of ${writeNumber(total)} lines shown`,
};

export const downloads = {
  patch: 'Patch',
  patchText: 'All changes, including uncommitted ones. Secrets are replaced with asterisks.',
  noBundle: 'No bundle, because nothing is committed.',
  bundle: 'Bundle',
  bundleText: 'The commits of this session.',
  copyCommand: ({ label }: Strings<'label'>) => `Copy the command for the ${label}`,
};

export const fileCard = {
  copyPath: ({ path }: Strings<'path'>) => `Copy the path ${path}`,
  addedLines: 'added lines:',
  removedLines: 'removed lines:',
  diffFailed: rich('Couldn’t load the diff: {message} <button>Try again</button>'),
  loadingTheDiff: 'Loading the diff',
};

export const fileText = {
  notStored: 'The diff exceeds a limit and is not stored.',
  notStoredWithSize: ({ bytes }: Strings<'bytes'>) => `The diff exceeds a limit and is not stored (${bytes}).`,
  binary: 'Binary file.',
  binaryWithSize: ({ bytes }: Strings<'bytes'>) => `Binary file, ${bytes}.`,
  binaryDeleted: 'Binary file, deleted.',
  binaryDeletedWithSize: ({ bytes }: Strings<'bytes'>) => `Binary file, deleted, ${bytes}.`,
  onlyMode: ({ modes }: Strings<'modes'>) => `Only the mode changed: ${modes}.`,
  added: 'Added',
  modified: 'Modified',
  deleted: 'Deleted',
  renamed: 'Renamed',
  typeChanged: 'Type changed',
  renamedWithoutOtherChanges: 'Renamed without other changes.',
  emptyFile: 'Empty file.',
};

export const fileTree = {
  changedFiles: 'Changed files',
};

export const noChanges = {
  noRepository: 'No repository',
  noRepositoryText:
    'Only changes in repositories are compared, and this session uses none. Select repositories when you start a session.',
  showFiles: 'Show files',
  noneYet: 'No changes yet',
  noneYetText: 'Changes appear here while the agent works, and when a turn ends.',
  noneStored: 'No changes stored',
  noneStoredText:
    'No turn has ended since the repositories were cloned, or the comparison failed. They are compared after each turn.',
  notStored: 'Not stored',
  notStoredText: 'No changes are stored for this turn.',
  unchanged: 'No changes',
  unchangedText: 'The repositories are as they were when the session began.',
  turnUnchangedText: 'This turn changed no files.',
};

export const repositoryFiles = {
  files: 'Files',
  filesShown: ({ shown, total }: Numbers<'shown' | 'total'>) => `${writeNumber(shown)} of ${writeNumber(total)} files`,
  showMoreFiles: 'Show more files',
  loadingTheFiles: 'Loading the files',
  filesGone: 'The files of these changes are no longer stored. The counts above are from the comparison.',
  noMatches: 'No file path contains this text.',
  filterFilesByPath: 'Filter files by path',
  filterFiles: 'Filter files',
};
