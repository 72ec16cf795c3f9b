import { type Numbers, plural, rich, type Strings } from './kit.ts';

type Push = Strings<'name' | 'repository'>;

export const activityStatus = {
  waiting: 'Waiting for a worker.',
  starting: 'The agent is starting.',
  resuming: 'The agent is resuming.',
  readsAfterTurn: 'The agent will read your message after this turn.',
  working: 'The agent is working.',
  restarting: 'The agent failed and will restart soon.',
};

export const announcements = {
  question: ({ body }: Strings<'body'>) => `Question: ${body}`,
  error: ({ body }: Strings<'body'>) => `Error: ${body}`,
  agent: ({ body }: Strings<'body'>) => `Agent: ${body}`,
};

export const keyAction = {
  agents: 'Agents',
  installAgent: 'Install the agent, then retry.',
  raiseBudget: 'Raise the budget of the key. The session then continues automatically.',
  addKey: 'Add a key, then retry.',
  changeKey: 'Change the key, then retry.',
};

export const queueNote = {
  reasons: {
    NO_WORKER: 'No worker is free.',
    ORGANIZATION_LIMIT: 'The organization already has its maximum number of running sessions.',
    USER_LIMIT: 'The user who started this session already has the maximum number of running sessions.',
  },

  position: ({ position }: Numbers<'position'>) => `Position in the queue: ${position}.`,
  askingOne: rich('<link>A session</link> is waiting for you and may occupy a worker.'),
  askingMany: rich('<link>{count} sessions</link> are waiting for you and may occupy workers.'),
};

export const quotaNote = {
  continuesAt: ({ time }: Strings<'time'>) =>
    `The model’s provider has reached its limit. The session continues at ${time}.`,
  continuesOn: ({ date }: Strings<'date'>) =>
    `The model’s provider has reached its limit. The session continues on ${date}.`,

  continueNow: 'Continue now',
};

export const retry = {
  sendsUnanswered: 'Resends the unanswered messages.',
  sendsTurnAndQueued: 'Resends your last message and anything queued.',
  sendsTurn: 'Resends your last message.',
};

export const rows = {
  withdrawn: 'Withdrawn',
  reverted: 'Reverted',
  edited: 'Edited',
  cutHint: 'The beginning of this message appears when it is complete.',
  thinking: 'Thinking',
  thought: 'Thought',
  agentOutput: 'The agent’s last output',
  question: 'Question',
  permissionNeeded: 'Permission needed',
  passed: 'This question was closed without an answer.',
  replied: 'Answered in words instead of a choice. The agent didn’t run it.',
};

export const terminal = {
  showLast: (count: number) => plural(count, { one: 'Show the last line', other: 'Show the last # lines' }),
  showAll: (count: number) => plural(count, { one: 'Show # line', other: 'Show all # lines' }),
  outputOf: ({ title }: Strings<'title'>) => `Output of ${title}`,
  untitled: 'a tool call',

  cutHint: 'The beginning of the output isn’t shown.',
};

export const toolCall = {
  statuses: { PENDING: 'pending', IN_PROGRESS: 'running', COMPLETED: 'done', FAILED: 'failed' },
  decisions: { DENIED: 'denied', CANCELLED: 'cancelled' },
  /** The state of a call that was open when a user stopped the turn. */
  stopped: 'stopped',
  toolCall: 'Tool call',
  noDetails: 'No details.',
  download: 'Download full output',
};

/** Titles of calls of the service's own tools. */
export const serviceTools = {
  'set_structured_output': 'Set output',
  'ask_user': 'Ask a question',
  'ask_the_user': 'Ask a question',
  'finish_session': 'Finish session',
  'read_knowledge': 'Read knowledge',
  'upload_attachment': 'Upload file',
  'report_pull_request': 'Report pull request',
  'open_pull_request': 'Open pull request',
  'update_pull_request': 'Update pull request',
  'read_pull_request': 'Read pull request',
  'reply_to_comment': 'Reply to comment',
  'submit_review': 'Submit review',
  'totp_code': 'Get one-time code',
  'start_session': 'Start session',
};

export const transcriptRows = {
  allowed: ({ title }: Strings<'title'>) => `Allowed: ${title}`,
  allowedByProfile: ({ title }: Strings<'title'>) => `Allowed by the agent’s settings: ${title}`,
  denied: ({ title }: Strings<'title'>) => `Denied: ${title}`,
  allowedBy: ({ name, title, answer }: Strings<'name' | 'title' | 'answer'>) => `${name} allowed: ${title} (${answer})`,
  deniedBy: ({ name, title, answer }: Strings<'name' | 'title' | 'answer'>) => `${name} denied: ${title} (${answer})`,
  cancelled: ({ title }: Strings<'title'>) => `Cancelled: ${title}`,

  stopped: {
    CANCELLED: 'The turn was stopped.',
    SUSPENDED: 'The turn was stopped because the session was suspended. Your next message starts a new turn.',
    MAX_TOKENS: 'The agent reached the token limit of a turn.',
    MAX_TURN_REQUESTS: 'The agent reached the request limit of a turn.',
    REFUSAL: 'The agent refused to continue.',
  },
  failed: 'The session failed.',
  suspended: 'The session was suspended.',
  resuming: 'Session resumed',
  file: ({ name }: Strings<'name'>) => `File: ${name}`,
  outputSet: 'Output updated',
  stoppedBy: ({ name }: Strings<'name'>) => `${name} stopped the turn.`,
  archived: 'The session was archived.',
  unarchived: 'The session was unarchived.',
  terminated: 'The session was terminated.',
  expired: 'The session expired.',
  finished: 'The session is finished. Send a message to continue.',
};

export const transcript = {
  loading: 'Loading the transcript',
  transcript: 'Transcript',
  loadingEarlier: 'Loading earlier entries…',
  empty: 'No activity yet',
  emptyText: 'The agent hasn’t started yet. Its activity will appear here.',
};

export const unanswered = {
  notAnswered: 'Not answered',
  withdraw: 'Withdraw',
};

export const workspaceNote = {
  deleted: 'The workspace and its files were deleted. Messages, attachments and usage are kept.',
  deletedResumable:
    'The workspace and its files were deleted. Messages, attachments and usage are kept. If the session is resumed, it starts with an empty workspace.',

  beingDeleted: 'The workspace is being deleted. If its worker isn’t running, it’s deleted when the worker starts.',
};

export const pendingQuestion = {
  question: 'Question',
  permission: 'Permission needed',
  mayRun: 'Allow the agent to run this?',
  options: 'Options',
  concerns: 'What this question is about',
  permissionHint: 'Or reply in your own words below. The agent then skips this and reads your reply.',
  questionHint: 'Reply below to answer.',
  optionHint: 'Or reply in your own words below.',
  keysHint: 'While typing, press Alt and the number.',
};

export const pushes = {
  branch: {
    unknown: ({ name, repository }: Push) => `Push to ${name} of ${repository}: outcome unknown`,
    refused: ({ name, repository }: Push) => `Push to ${name} of ${repository} refused`,
    deleted: ({ name, repository }: Push) => `Deleted ${name} of ${repository}`,
  },
  tag: {
    unknown: ({ name, repository }: Push) => `Push of tag ${name} to ${repository}: outcome unknown`,
    refused: ({ name, repository }: Push) => `Push of tag ${name} to ${repository} refused`,
    deleted: ({ name, repository }: Push) => `Deleted tag ${name} of ${repository}`,
  },
  tagPushed: ({ name, repository }: Push) => `Pushed tag ${name} to ${repository}`,
  pushed: ({ name, repository }: Push) => `Pushed to ${name} of ${repository}`,
  forced: ({ name, repository }: Push) => `Force-pushed to ${name} of ${repository}`,
  commitsPushed: ({ count, name, repository }: Push & Numbers<'count'>) =>
    `${plural(count, { one: 'Pushed # commit', other: 'Pushed # commits' })} to ${name} of ${repository}`,
  commitsForced: ({ count, name, repository }: Push & Numbers<'count'>) =>
    `${plural(count, { one: 'Force-pushed # commit', other: 'Force-pushed # commits' })} to ${name} of ${repository}`,
};
