import { writeNumber } from '../ui/number.ts';
import { type Numbers, plural, rich, type Strings } from './kit.ts';

export const bulkBar = {
  terminateTitle: (count: number) => plural(count, { one: 'Terminate # session?', other: 'Terminate # sessions?' }),
  terminateAllTitle: 'Terminate all matching sessions?',
  terminateOneText:
    'Its agent stops and its secrets are deleted. It no longer accepts messages. Its transcript is kept.',
  terminateText:
    'Their agents stop and their secrets are deleted. They no longer accept messages. Their transcripts are kept.',
  archiveAllTitle: 'Archive all matching sessions?',
  unarchiveAllTitle: 'Unarchive all matching sessions?',

  tag: 'Tag',
  includesUnshown: 'This includes sessions that are not shown yet.',
  archiveEndsTurns:
    'Archiving suspends sessions: open turns end unfinished, and open questions close without an answer.',
  addTags: 'Add tags',
  tagsHint: 'Separate tags with commas. Existing tags are kept.',
  suggestions: 'Suggested tags',
};

/** Confirmations before an act that ends the turn of a session. */
export const turnLoss = {
  suspendTitle: 'Suspend this session?',
  suspendLabel: 'Suspend',
  archiveTitle: (count: number) => plural(count, { one: 'Archive this session?', other: 'Archive # sessions?' }),
  suspend: {
    work: 'The agent stops now, and its turn ends unfinished. When you resume the session, waiting messages are sent. If there are none, send one or select Retry.',
    question:
      'The agent’s question closes without an answer, and its turn ends. After you resume the session, send a message or select Retry.',
  },
  archive: {
    work: 'Archiving suspends the session: the agent stops now, and its turn ends unfinished.',
    question: 'Archiving suspends the session: the agent’s question closes without an answer, and its turn ends.',
  },
  archiveSeveral: (count: number) =>
    plural(count, {
      one: 'Archiving suspends sessions. The turn of # session ends unfinished, and its open question closes without an answer.',
      other:
        'Archiving suspends sessions. The turns of # sessions end unfinished, and their open questions close without an answer.',
    }),
};

export const bulkReport = {
  /** `done` is a sentence, such as "105 sessions tagged." */
  progress: ({ done, failed }: Strings<'done'> & Numbers<'failed'>) => `${done} ${writeNumber(failed)} failed.`,

  done: 'Done',
  inProgress: 'In progress',
  stop: 'Stop',
  label: 'Failed sessions',
  more: ({ count }: Numbers<'count'>) => `And ${writeNumber(count)} more.`,
};

export const filterBar = {
  searchTitles: 'Search titles',
  searchTranscripts: 'Search titles and transcripts',
  inTranscripts: 'In transcripts',
  filter: 'Filter',
  filterCount: ({ count }: Numbers<'count'>) => `Filter (${writeNumber(count)})`,
  clear: 'Clear',
  showResults: 'Show results',
  anyStatus: 'Any status',
  anyOrigin: 'Any origin',
  anyPlaybook: 'Any playbook',
  anyRepository: 'Any repository',
  anyPullRequest: 'Any pull request',
  tag: 'Tag',
  anyTag: 'Any tag',
  byAnyone: 'By anyone',
  byMe: 'By me',
};

export const foundSessions = {
  label: 'Sessions found',
  noneText:
    'Check the spelling, use fewer words, or clear the filters. A word also finds longer words that begin with it.',
};

export const savedViews = {
  views: 'Saved views',
  notForTranscripts: 'A search in transcripts can’t be saved as a view.',
  notForPeriods: 'A view keeps fixed days. To save it, choose a range of days.',
  save: 'Save view',
  rename: 'Rename view',
  delete: 'Delete view',
  current: ({ name }: Strings<'name'>) => `View: ${name}`,
  saved: ({ name }: Strings<'name'>) => `View “${name}” saved.`,
  deleted: ({ name }: Strings<'name'>) => `View “${name}” deleted.`,
  nameHint: 'The view keeps the current filters. Only you can see it.',
  nameTaken: 'You already have a view with this name.',
};

export const filters = {
  queued: 'Queued',
  working: 'Working',
  suspended: 'Suspended',
  createdPeriods: {
    today: 'Today',
    last7: 'Last 7 days',
    last30: 'Last 30 days',
  },
  pullRequestStates: { OPEN: 'Open PR', MERGED: 'Merged PR', CLOSED: 'Closed PR' },
};

export const newSession = {
  start: 'Start',
  task: 'What should the agent do?',
  taskPlaceholder: 'Describe a task. Mention repositories as @owner/name.',
  more: 'More',
  noKey: rich('{name} has no model key. <link>Add a model key</link>'),
  agentMissing: ({ agent }: Strings<'agent'>) =>
    `The default agent “${agent}” is no longer available. Choose an agent.`,
  demoAgent: 'The demo agent needs no model. It runs simple commands and shows how sessions work.',
  installAgent: 'Install an agent (Settings → Agents)',
  askAdministrator: 'An administrator can install another agent.',
  attachFiles: 'Attach files',
  dropAnywhere: 'Drop files anywhere.',
  dropHint: 'You can also drop or paste files.',
  ctrlEnterStarts: rich('{ctrlEnter} to start'),
  promptMissing: 'Describe a task.',
  promptOrValueMissing: 'Describe a task, or fill in a value of the playbook.',
  defaultsHint: 'These are the default repositories. To use others instead, mention them in the prompt as @owner/name.',
  chooseHint: 'Choose repositories, or mention them in the prompt as @owner/name.',
  noRepositoryHint: 'The session starts without a repository.',
  tagsPlaceholder: 'Separate tags with commas',
  allowedTags: ({ tags }: Strings<'tags'>) => `Allowed tags: ${tags}`,
  noSnapshots: 'No snapshots yet. You can save one in the details of a session.',
};

export const sessionList = {
  selected: ({ count }: Numbers<'count'>) => `${writeNumber(count)} selected`,
  selectShown: 'Select all shown',
  size: (count: number, digits: string) => plural(count, { one: '# session', other: '# sessions' }, digits),
  none: 'No sessions yet',
  noneText: 'Start a session to give an agent a task.',
  noneArchived: 'No archived sessions',
  noneArchivedText: 'Sessions that you archive are here.',
  sort: 'Sort',
  orders: { newest: 'Newest first', updated: 'Recently updated' },
  allSelected: 'All matching sessions are selected',
  selectAll: 'Select all matching sessions',
};

export const noneMatch = {
  title: 'No matching sessions',
  changeFilters: 'Change or clear the filters.',
  searchingTranscripts: 'Searching transcripts',
  nowhere: 'Neither titles nor transcripts match. Change or clear the filters.',
  noTitle: 'No titles match',
  inTranscripts: (count: number) =>
    plural(count, { one: '# session matches in its transcript.', other: '# sessions match in their transcripts.' }),
  minInTranscripts: (count: number) =>
    plural(count, {
      one: 'At least # session matches in its transcript.',
      other: 'At least # sessions match in their transcripts.',
    }),
  show: 'Show matches in transcripts',
};

export const createdFilter = {
  anyTime: 'Any creation date',
  range: 'Range of days',
  from: 'Created from (UTC)',
  to: 'Created to (UTC)',
};

export const changedLines = {
  label: ({ added, removed }: Strings<'added' | 'removed'>) => `${added} lines added, ${removed} removed`,
};

export const sessionRow = {
  repositories: ({ name, more }: Strings<'name'> & Numbers<'more'>) => `${name} and ${writeNumber(more)} more`,

  select: ({ title }: Strings<'title'>) => `Select ${title}`,
  started: rich('started {time}'),
  acus: ({ acus }: Strings<'acus'>) => `${acus} ACU`,
  limitReached: ({ time }: Strings<'time'>) => `Waiting for the provider’s limit until ${time}`,
};

export const sessionsPage = {
  noOrganizationText: 'You don’t have access to an organization. Ask an administrator for access.',
  loadingSessions: 'Loading sessions',
  organizationNotFound: 'Organization not found',
};

export const terminateCount = {
  willEnd: (count: number) =>
    plural(count, { one: '# session will be terminated.', other: '# sessions will be terminated.' }),
  minWillEnd: (count: number) =>
    plural(count, { one: 'At least # session will be terminated.', other: 'At least # sessions will be terminated.' }),
  refused: (count: number) =>
    plural(count, { one: '# session can’t be terminated.', other: '# sessions can’t be terminated.' }),

  counting: 'Counting sessions…',
};

export const bulkResults = {
  archived: (count: number) => plural(count, { one: '# session archived.', other: '# sessions archived.' }),
  unarchived: (count: number) => plural(count, { one: '# session unarchived.', other: '# sessions unarchived.' }),
  tagged: (count: number) => plural(count, { one: '# session tagged.', other: '# sessions tagged.' }),
  terminated: (count: number) => plural(count, { one: '# session terminated.', other: '# sessions terminated.' }),
  archivedAgain: (count: number) =>
    plural(count, { one: '# session archived again.', other: '# sessions archived again.' }),
  tagsRestored: (count: number) =>
    plural(count, { one: 'Tags of # session restored.', other: 'Tags of # sessions restored.' }),
};

export const archiveEffects = {
  /** The agent of the only session that was archived. */
  agentSuspended: 'Its agent was suspended.',
  agentsSuspended: (count: number) =>
    plural(count, { one: 'The agent of # session was suspended.', other: 'The agents of # sessions were suspended.' }),
  /** It is not known how many of the agents worked. */
  workingSuspended: 'Agents that worked were suspended.',
  staysSuspended: (count: number) =>
    plural(count, {
      one: 'The session stays suspended, because its agent would receive the messages that wait. Resume it to send them.',
      other:
        '# sessions stay suspended, because their agents would receive the messages that wait. Resume them to send these.',
    }),
};

export const pullRequestChips = {
  states: {
    OPEN: (count: number) => plural(count, { one: 'PR open', other: '# PRs open' }),
    MERGED: (count: number) => plural(count, { one: 'PR merged', other: '# PRs merged' }),
    CLOSED: (count: number) => plural(count, { one: 'PR closed', other: '# PRs closed' }),
  },
  /** A state that this console does not know. */
  other: ({ count, state }: Strings<'state'> & Numbers<'count'>) =>
    plural(count, { one: `PR ${state}`, other: `# PRs ${state}` }),
};
