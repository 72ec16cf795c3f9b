import { writeNumber } from '../ui/number.ts';
import { type Numbers, plural, rich, type Strings } from './kit.ts';

/** Folded tool calls of a transcript, and the marks of its rows. */
export const transcriptFolds = {
  commands: (count: number) => plural(count, { one: 'ran # command', other: 'ran # commands' }),
  edits: (count: number) => plural(count, { one: 'edited # file', other: 'edited # files' }),
  reads: (count: number) => plural(count, { one: 'read # file', other: 'read # files' }),
  searches: (count: number) => plural(count, { one: 'searched once', other: 'searched # times' }),
  fetches: (count: number) => plural(count, { one: 'fetched # page', other: 'fetched # pages' }),
  others: (count: number) => plural(count, { one: 'used # tool', other: 'used # tools' }),
  /** The line in place of the entries that the agent wrote before it was interrupted. */
  interrupted: (count: number) =>
    plural(count, { one: 'Interrupted attempt: # entry', other: 'Interrupted attempt: # entries' }),
  show: 'Show',
  hide: 'Hide',
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
export const transcriptSearch = {
  label: 'Search the transcript',
  older: 'Previous match (Enter)',
  newer: 'Next match',
  close: 'Close search',
  searching: 'Searching…',
  position: ({ at, total }: Numbers<'at' | 'total'>) => `${writeNumber(at)} of ${writeNumber(total)}`,
  positionOfMany: ({ at, total }: Numbers<'at' | 'total'>) => `${writeNumber(at)} of ${writeNumber(total)} or more`,
};

export const transcriptJumps = {
  label: 'Search and jump in the transcript',
  search: 'Search the transcript (/)',
  start: 'Jump to start (Home)',
  ownBefore: 'Your previous message (p)',
  own: 'Your next message (m)',
  error: 'Next error (e)',
  latest: 'Jump to latest',
  none: 'There are no more of these entries.',
  notFound: 'This entry isn’t in the transcript.',
};

export const composer = {
  enter: {
    replies: rich('{key} to reply in your own words'),
    queues: rich('{key} to queue'),
    interrupts: rich('{key} to stop the agent and send'),
    answers: rich('{key} to answer'),
    sends: rich('{key} to send'),
  },

  afterThisTurn: 'After this turn',
  stopAndSendNow: 'Stop and send now',
  asConfigured: 'Agent’s default',
  unconfirmed: 'We couldn’t confirm that this message arrived. Send it again: the agent receives it only once.',
  unconfirmedFiles:
    'We couldn’t confirm that this message arrived. Send it again, with its files: the agent receives it only once.',
  dropFiles: 'Drop files to attach them to your message.',
  label: 'Message to the agent',
  stopping: 'Stopping',
  stopEsc: 'Stop (Esc)',
  send: 'Send',
  whenToSend: 'When to send',
  stopsAgentSends: rich('· {ctrlEnter} to stop the agent and send'),
  stops: rich('· {esc} to stop'),
  startsALine: rich('· {shiftEnter} for a new line'),
  removeRefused: 'Remove the files that can’t be sent.',
  retryFailed: 'Retry or remove the failed uploads.',
  writeMessage: 'Write a message to send with the files.',
};

/** The list that completes names in the field for messages. */
export const completions = {
  label: 'Completions',
  count: ({ count }: Numbers<'count'>) => plural(count, { one: '# completion', other: '# completions' }),
  repository: ({ host }: Strings<'host'>) => `Repository, ${host}`,
  file: 'File',
  directory: 'Directory',
  playbook: ({ macro }: Strings<'macro'>) => `Playbook, ${macro}`,
};

export const presence = {
  oneTypes: rich('{name} is typing…'),
  areTyping: rich('{name} and {more} more are typing…'),

  alsoViewing: 'Also viewing',
  isTyping: ({ name }: Strings<'name'>) => `${name} is typing`,
};

export const queuedMessages = {
  queuedMessages: 'Queued messages',
  queuedMessage: 'Queued message',
  withdraw: 'Withdraw',
};

export const sessionButtons = {
  actions: 'Session actions',
  sessionArchived: 'Session archived.',
  sessionUnarchived: 'Session unarchived.',
  suspendedLater: 'The session will be suspended when its agent stops.',
  suspendSession: 'Suspend session',
  resumeSession: 'Resume session',
  unarchiveSession: 'Unarchive session',
  archiveSession: 'Archive session',
  terminateSession: 'Terminate session',
  suspend: 'Suspend',
  resume: 'Resume',
  terminateTitle: 'Terminate this session?',
  terminateText: 'Its agent stops and its secrets are deleted. It no longer accepts messages. Its transcript is kept.',
};

export const sessionPage = {
  readOnly:
    'You can only view this session. To send messages, ask an administrator for the “Manage sessions” permission.',
  readOnlyWithout: ({ permission }: Strings<'permission'>) =>
    `You can only view this session. To send messages, ask an administrator for the “${permission}” permission.`,

  allSessions: 'All sessions',
  rename: 'Rename session',
  tabsLabel: 'Parts of the session',
  conversation: 'Conversation',
  sidePanel: 'Side panel',
  resize: 'Resize the conversation',
  loadingTheChanges: 'Loading the changes',
  loadingTheFiles: 'Loading the files',
  loadingTheCommands: 'Loading the commands',
  notDelivered: 'Not delivered',
  queued: 'Queued',
  notAnswered: 'Not answered',
  waits: 'Held: sent with your next message',
  waitsForResume: 'Held: sent when the session resumes',
  terminated: 'This session was terminated and no longer accepts messages.',
  expired: 'This session expired and no longer accepts messages.',
  archived: 'This session is archived. Unarchive it to send messages.',
  placeholderAnswer: 'Reply to answer…',
  placeholderContinue: 'Send a follow-up…',
  placeholderReply: 'Reply in your own words…',
  placeholderContinueNow: 'Send a message to continue now',
  placeholderResume: 'Send a message to resume the session',
  placeholderContinueSession: 'Send a follow-up…',
  placeholder: 'Message the agent',
};

export const sessionTabs = {
  fileUnit: (count: number) => plural(count, { one: 'file', other: 'files' }),

  conversation: 'Conversation',
  changes: 'Changes',
  terminal: 'Terminal',
  files: 'Files',
  plan: 'Plan',
  planCount: ({ done, count }: Numbers<'done' | 'count'>) => `${writeNumber(done)}/${writeNumber(count)}`,
  planUnit: 'steps done',
  output: 'Output',
  details: 'Details',
};

export const stop = {
  stopTheAgent: 'Stop the agent',
};
