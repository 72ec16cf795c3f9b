import { writeNumber } from '../ui/number.ts';
import { type Numbers, plural, type Strings } from './kit.ts';

export const sendFile = {
  unexpectedStatus: ({ status }: Numbers<'status'>) => `The service responded with status ${writeNumber(status)}.`,
};

export const uploads = {
  progressShort: ({ sent, count }: Numbers<'sent' | 'count'>) =>
    `${writeNumber(sent)} of ${plural(count, { one: '# file', other: '# files' })}`,
  failed: ({ count }: Numbers<'count'>) => `${writeNumber(count)} failed`,
  refused: ({ count }: Numbers<'count'>) => `${writeNumber(count)} refused`,
  attachFiles: 'Attach files',
  progress: ({ sent, count }: Numbers<'sent' | 'count'>) =>
    `${writeNumber(sent)} of ${plural(count, { one: '# file', other: '# files' })} uploaded`,
  attachedFiles: 'Attached files',
  allFiles: 'All files',
  retryAll: 'Retry all',
  removeAll: 'Remove all',
  cancelAll: 'Cancel all',
  uploadOf: ({ name }: Strings<'name'>) => `Upload of ${name}`,
  retry: ({ name }: Strings<'name'>) => `Retry the upload of ${name}`,
  cancel: ({ name }: Strings<'name'>) => `Cancel the upload of ${name}`,
  theUploadFailed: 'The upload failed.',
  andMore: ({ names, count }: Strings<'names'> & Numbers<'count'>) => `${names} and ${writeNumber(count)} more`,
  tooMany: ({ maxUploads, named }: Strings<'named'> & Numbers<'maxUploads'>) =>
    `You can attach up to ${writeNumber(maxUploads)} files. Not attached: ${named}.`,
  empty: ({ name }: Strings<'name'>) => `${name} is empty.`,
  tooLarge: ({ name, size, maxBytes }: Strings<'name' | 'size' | 'maxBytes'>) =>
    `${name} is too large (${size}). The limit is ${maxBytes}.`,
};

export const fileDrop = {
  folders: ({ count, names }: Numbers<'count'> & Strings<'names'>) =>
    plural(count, {
      one: `${names} is a folder: attach its files or an archive instead.`,
      other: `${names} are folders: attach their files or an archive instead.`,
    }),
};
