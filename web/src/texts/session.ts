import { plural, type Strings } from './kit.ts';

/** Folded tool calls of a transcript, and the marks of its rows. */
export const transcriptFolds = {
  commands: (count: number) => plural(count, { one: 'ran # command', other: 'ran # commands' }),
  edits: (count: number) => plural(count, { one: 'edited # file', other: 'edited # files' }),
  reads: (count: number) => plural(count, { one: 'read # file', other: 'read # files' }),
  searches: (count: number) => plural(count, { one: 'searched once', other: 'searched # times' }),
  fetches: (count: number) => plural(count, { one: 'fetched # page', other: 'fetched # pages' }),
  others: (count: number) => plural(count, { one: 'used # tool', other: 'used # tools' }),
  /** The parts are separated by commas, and begin with a capital letter. */
  withDuration: ({ parts, duration }: Strings<'parts' | 'duration'>) => `${parts} · ${duration}`,
};

/** The separators between days. */
export const transcriptDays = {
  today: 'Today',
  yesterday: 'Yesterday',
};

/** The actions of a row that appear beside it. */
export const rowMarks = {
  copyLink: 'Copy link to this entry',
};

/** The buttons and keys that jump in a transcript. */
export const transcriptJumps = {
  label: 'Jump in the transcript',
  start: 'Jump to start (Home)',
  ownBefore: 'Previous message of mine (p)',
  own: 'Next message of mine (m)',
  error: 'Next error (e)',
  latest: 'Jump to latest',
  end: 'Jump to end (End)',
  none: 'There are no more entries of this kind.',
  notFound: 'This entry is not in the transcript.',
};
