import { writeNumber } from '../ui/number.ts';
import { type Numbers, plural, rich, type Strings } from './kit.ts';

export const lineComments = {
  commentOnLine: ({ line, version }: Strings<'line' | 'version'>) => `Comment on line ${line}, ${version}`,
  newVersion: 'new version',
  oldVersion: 'old version',
  line: ({ line }: Numbers<'line'>) => `line ${writeNumber(line)}`,
  lines: ({ start, end }: Numbers<'start' | 'end'>) => `lines ${writeNumber(start)}–${writeNumber(end)}`,
  linesOfVersion: ({ lines, version }: Strings<'lines' | 'version'>) => `${lines}, ${version}`,
  outdated: 'Outdated',
  outdatedComments: 'Outdated comments',
  editComment: ({ location }: Strings<'location'>) => `Edit the comment on ${location}`,
  removeComment: ({ location }: Strings<'location'>) => `Remove the comment on ${location}`,
  commentOn: ({ location }: Strings<'location'>) => `Comment on ${location}`,
};

export const commentForm = {
  add: 'Add comment',
  label: ({ location }: Strings<'location'>) => `Your comment on ${location}`,
  rangeHint: 'To select several lines, drag over their numbers, or press Shift and an arrow key on a number.',
  tapHint: 'Tap another line number to select the lines up to it.',
  keysHint: rich('{key} to add the comment.'),
};

export const commentList = {
  title: 'Comments on the changes',
  count: ({ count }: Numbers<'count'>) => plural(count, { one: '# comment', other: '# comments' }),
  sendWith: ({ count }: Numbers<'count'>) =>
    plural(count, { one: 'Send with # comment', other: 'Send with # comments' }),
  isReply: 'Your comments are sent as a reply. The agent won’t run what it asked for.',
  isAnswer: 'Your comments are part of the answer.',
};

/** Parts of the message that an agent gets. */
export const commentMessage = {
  newVersion: 'new version',
  oldVersion: 'old version',
  afterTurn: ({ turn }: Strings<'turn'>) => `version after turn ${turn}`,
  beforeTurn: ({ turn }: Strings<'turn'>) => `version before turn ${turn}`,
  inDirectory: ({ directory }: Strings<'directory'>) => ` in the repository ${directory}`,
  line: ({ line }: Strings<'line'>) => `line ${line}`,
  lines: ({ start, end }: Strings<'start' | 'end'>) => `lines ${start}–${end}`,
  heading: ({ path, repository, lines, version }: Strings<'path' | 'repository' | 'lines' | 'version'>) =>
    `**${path}**${repository}, ${lines} (${version}):`,
  outdated: ({ version }: Strings<'version'>) => `${version}, since changed`,
  moreLines: ({ count }: Numbers<'count'>) => plural(count, { one: '… # more line', other: '… # more lines' }),
};
