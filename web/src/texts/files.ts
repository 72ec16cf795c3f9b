import { writeNumber } from '../ui/number.ts';
import { type Numbers, plural, rich, type Strings } from './kit.ts';

export const breadcrumbs = {
  path: 'Path',
};

export const checkpointNote = {
  savedAt: rich('as of {time}, {ago}'),
  secondsAgo: ({ seconds }: Numbers<'seconds'>) => `${writeNumber(seconds)} s ago`,
  partsMissing: ({ count }: Numbers<'count'>) =>
    plural(count, { one: 'One part of the workspace is not saved', other: '# parts of the workspace are not saved' }),
  fileCount: ({ count }: Numbers<'count'>) => plural(count, { one: '# file', other: '# files' }),
  unknownReason: 'unknown reason',
  reasons: {
    UNREADABLE: 'the service can’t read it',
    CHANGING: 'it changed while it was read',
    TOO_LARGE: 'it exceeds a limit',
    SPECIAL: 'it is a pipe, socket or device',
  },
};

export const directoryList = {
  entriesShown: ({ shown, total }: Numbers<'shown' | 'total'>) =>
    `${writeNumber(shown)} of ${writeNumber(total)} entries`,
  entriesOfMany: ({ shown }: Numbers<'shown'>) => `${writeNumber(shown)} of more than ${writeNumber(10_000)} entries`,
  entries: 'Entries',
  showHidden: ({ count }: Numbers<'count'>) => `Show hidden files (${writeNumber(count)})`,
  parentDirectory: 'parent directory',
  thisDirectoryIsEmpty: 'This directory is empty.',
  directory: 'directory',
  link: 'link',
  file: 'file',
  executable: 'executable',
};

export const downloadButton = {
  gone: 'This file no longer exists in this checkpoint.',
};

export const fileView = {
  tooLarge: 'This file is too large to display. Download it to view it.',
  binary: 'This is a binary file. Download it to view it.',
  copyPath: ({ path }: Strings<'path'>) => `Copy the path ${path}`,
  copyText: 'Copy text',
  linkTo: rich('A link to <code>{target}</code>. Links can’t be opened here.'),
  thisFileIsEmpty: 'This file is empty.',
  badImage: 'Can’t display this image. Download it to view it.',
};

export const filesPanel = {
  files: 'Files',
  checkpoint: 'Checkpoint',
  newestCheckpoint: 'Newest checkpoint',
  newer: 'Newer files are available.',
  showNewer: 'Show newer files',
  loadingTheFiles: 'Loading the files',
  downloadTheWorkspace: 'Download the workspace',
  downloadThisDirectory: 'Download this directory',
  chooseFile: 'Select a file to view it.',
  loadingTheFile: 'Loading the file',
  noSuchFile: 'File not found',
  noSuchFileText: 'This checkpoint has nothing at this path.',
  goToRoot: 'Go to the workspace',
  workspaceDeleted: 'Workspace deleted',
  deletedText: 'The files and checkpoints of this session were deleted.',
  noneYet: 'No files saved yet',
  noneYetText: 'Files are saved while the agent works, a few seconds after its first change.',
};

export const imageView = {
  dimensions: ({ width, height }: Strings<'width' | 'height'>) => `${width} × ${height} pixels`,
};

export const textView = {
  showMoreLines: ({ count }: Numbers<'count'>) =>
    plural(count, { one: 'Show # more line', other: 'Show # more lines' }),
  linesShown: ({ shown, total }: Numbers<'shown' | 'total'>) =>
    `${writeNumber(shown)} of ${writeNumber(total)} lines shown`,
};
