import { writeNumber } from '../ui/number.ts';
import { type Numbers, plural, rich, type Strings } from './kit.ts';

export const actionFields = {
  channelConfiguration: 'Channel configuration',
  channelConfigurationHint: 'This is stored, but this service doesn’t use it.',
  tagsPlaceholder: 'Separate tags with commas',
  otherOptions: 'Other session options',
  sessionOptions: 'Session options',
  tagsSummary: ({ tags }: Strings<'tags'>) => `Tags: ${tags}`,
  otherOptionsHint: 'These options are stored, but this service doesn’t use them.',
};

export const actions = {
  legend: ({ n }: Numbers<'n'>) => `Action ${writeNumber(n)}`,
  remove: ({ n }: Numbers<'n'>) => `Remove action ${writeNumber(n)}`,
  add: 'Add action',
};

export const automationForm = {
  create: 'Create automation',
  useTheirs: 'Use their version',
  saveMine: 'Save my version',
};

export const conditionGroups = {
  everyEvent: 'Runs on every event of this type.',
  or: 'or',
  matchAll: 'Match all conditions',
  addCondition: 'Add condition',
  addAlternative: 'Add alternative',
};

export const conditionRow = {
  field: 'Field',
  operator: 'Operator',
  onePerLine: 'Enter one value per line.',
  remove: ({ index }: Numbers<'index'>) => `Remove condition ${writeNumber(index)}`,
  plainHint: 'Enter a number, true or false. Use quotes for text.',
  rangeHint: 'Enter two numbers, the lower one first: 1, 5',
};

export const draft = {
  notJson: ({ message }: Strings<'message'>) => `This is not valid JSON: ${message}.`,
};

export const labels = {
  events: {
    'schedule:recurring': 'On a schedule',
    'webhook:incoming': 'Incoming webhook',
    'manual': 'Manual',
    'session:finished': 'Session finished',
    'session:blocked': 'Session needs a reply',
    'session:error': 'Session failed',
    'session:suspended': 'Session suspended',
    'session:terminated': 'Session terminated',
    'session:pull_request_merged': 'Pull request merged',
    'session:pull_request_closed': 'Pull request closed',
    'github:issues': 'Issue opened or changed (GitHub)',
    'github:issue_comment': 'Comment on an issue or pull request (GitHub)',
    'github:pull_request': 'Pull request opened or changed (GitHub)',
    'github:pull_request_review': 'Review (GitHub)',
    'github:pull_request_review_comment': 'Review comment (GitHub)',
    'github:check_run': 'Check created or completed (GitHub)',
    'github:push': 'Push (GitHub)',
    'gitlab:issue': 'Issue opened or changed (GitLab)',
    'gitlab:issue_note': 'Comment on an issue (GitLab)',
    'gitlab:note': 'Comment (GitLab)',
    'gitlab:merge_request': 'Merge request opened or changed (GitLab)',
    'gitlab:pipeline': 'Pipeline status changed (GitLab)',
    'gitlab:push': 'Push (GitLab)',
    'gitea:issues': 'Issue opened or changed (Gitea)',
    'gitea:issue_comment': 'Comment on an issue or pull request (Gitea)',
    'gitea:pull_request': 'Pull request opened or changed (Gitea)',
    'gitea:pull_request_approved': 'Pull request approved (Gitea)',
    'gitea:pull_request_rejected': 'Changes requested (Gitea)',
    'gitea:pull_request_comment': 'Review comment (Gitea)',
    'gitea:push': 'Push (Gitea)',
  },
  groups: { session: 'Sessions', github: 'GitHub', gitlab: 'GitLab', gitea: 'Gitea' },
  otherGroup: 'General',
  missed: { LATEST: 'Run the latest', SKIP: 'Run none', ALL: 'Run all' },
  actions: {
    'start_session': 'Start a session',
    'message_session': 'Message a session',
    'monitor_session': 'Watch a channel',
  },
  operators: {
    EQ: 'is',
    NEQ: 'is not',
    IN: 'is one of',
    NOT_IN: 'is none of',
    NOT_CONTAINS: 'does not contain',
    NOT_STARTS_WITH: 'does not start with',
    NOT_ENDS_WITH: 'does not end with',
    GT: 'is greater than',
    LT: 'is less than',
    GTE: 'is at least',
    LTE: 'is at most',
    NOT_MATCHES: 'does not match',
    GLOBS: 'matches one of',
    NOT_GLOBS: 'matches none of',
  },
};

export const moreJson = {
  jsonLabel: ({ title }: Strings<'title'>) => `${title} (JSON)`,
};

export const ruleFields = {
  frequency: 'Frequency',
  everyFewMinutes: 'Every few minutes',
  hourly: 'Hourly',
  daily: 'Daily',
  weekdays: 'Weekdays',
  weekly: 'Weekly',
  monthly: 'Monthly',
  customRule: 'Custom rule',
  intervalMinutes: 'Interval (minutes)',
  intervalHours: 'Interval (hours)',
  intervalDays: 'Interval (days)',
  intervalWeeks: 'Interval (weeks)',
  intervalMonths: 'Interval (months)',
  minute: 'Minute',
  dayOfTheMonth: 'Day of the month',
  lastDay: 'Last day',
  timeZone: 'Time zone',
  days: 'Days',
  rule: 'Rule',
  ruleHint: 'Enter a recurrence rule (RRULE). A DTSTART line can precede it.',
  nextRuns: 'Next runs',
  loadingNextRuns: 'Loading the next runs…',
};

export const rule = {
  monday: 'Monday',
  tuesday: 'Tuesday',
  wednesday: 'Wednesday',
  thursday: 'Thursday',
  friday: 'Friday',
  saturday: 'Saturday',
  sunday: 'Sunday',
  noDay: 'Select at least one day.',
  noTime: 'Enter a time.',
};

export const settingsFields = {
  maxRuns: 'Max runs',
  runsWindow: 'Per',
  limits: 'Limits',
  queue: 'Concurrent, queued and missed runs',
  advanced: 'Advanced',
  windowMinute: 'Minute',
  windowHour: 'Hour',
  windowDay: 'Day',
  windowWeek: 'Week',
  windowSeconds: ({ count }: Numbers<'count'>) => plural(count, { one: '# second', other: '# seconds' }),
  acusSummary: ({ count }: Numbers<'count'>) =>
    plural(count, { one: '# ACU per session', other: '# ACUs per session' }),
  runsSummary: ({ count, window }: Numbers<'count'> & Strings<'window'>) =>
    plural(count, { one: `# run per ${window}`, other: `# runs per ${window}` }),
  concurrentSummary: ({ count }: Numbers<'count'>) =>
    plural(count, { one: '# concurrent session', other: '# concurrent sessions' }),
  queuedSummary: ({ count }: Numbers<'count'>) => plural(count, { one: '# queued run', other: '# queued runs' }),
  delaySummary: ({ count }: Numbers<'count'>) =>
    plural(count, { one: 'Delay up to # second', other: 'Delay up to # seconds' }),
  missedSummary: ({ choice }: Strings<'choice'>) => `Missed runs: ${choice}`,
  runAsSummary: ({ who }: Strings<'who'>) => `Run as: ${who}`,
  maxQueuedRuns: 'Max queued runs',
  randomDelaySeconds: 'Random delay (seconds)',
  noDelay: 'No delay',
  settings: 'Settings',
  missedRuns: 'Missed runs',
  runTheLatest: 'Run the latest',
  runNone: 'Run none',
  runAll: 'Run all',
  runAs: 'Run as',
  creator: 'The automation’s creator',
  otherSettings: 'Other settings',
  otherSettingsHint: ({ settings }: Strings<'settings'>) =>
    `These settings are stored, but this service doesn’t use them: ${settings}.`,
};

export const targetField = {
  targetSession: 'Target session',
  sessionPlaceholder: 'Session ID or URL',
  loading: 'Loading…',
  newSessionIfClosed: 'Start a new session if the target doesn’t exist or no longer accepts messages',
  sessionNotFound: 'Session not found.',
  untitledSession: 'Untitled session',
};

export const triggerFields = {
  webhooksNeeded: rich('These events need the <link>webhooks of the Git provider</link>.'),
  notEditable: rich('Not editable here: {value}'),
};

export const triggers = {
  triggers: 'Triggers',
  noTriggerHint: 'Without a trigger, the automation runs only when someone starts it.',
  legend: ({ n }: Numbers<'n'>) => `Trigger ${writeNumber(n)}`,
  removeNumber: ({ n }: Numbers<'n'>) => `Remove trigger ${writeNumber(n)}`,
  remove: 'Remove trigger',
  add: 'Add trigger',
};

export const ruleText = {
  inZone: ({ words, timeZone }: Strings<'words' | 'timeZone'>) => `${words} (${timeZone})`,
  everyMinutes: ({ count }: Numbers<'count'>) => plural(count, { one: 'Every minute', other: 'Every # minutes' }),
  everyHours: ({ count }: Numbers<'count'>) => plural(count, { one: 'Every hour', other: 'Every # hours' }),
  everyHoursAt: ({ count, minute }: Numbers<'count' | 'minute'>) =>
    plural(count, { one: `Every hour, at minute ${minute}`, other: `Every # hours, at minute ${minute}` }),
  everyDays: ({ count, time }: Numbers<'count'> & Strings<'time'>) =>
    plural(count, { one: `Every day at ${time}`, other: `Every # days at ${time}` }),
  onWeekdays: ({ time }: Strings<'time'>) => `Weekdays at ${time}`,
  onDays: ({ days, time }: Strings<'days' | 'time'>) => `Every ${days} at ${time}`,
  everyWeeks: ({ count, days, time }: Numbers<'count'> & Strings<'days' | 'time'>) =>
    plural(count, { one: `Every week on ${days} at ${time}`, other: `Every # weeks on ${days} at ${time}` }),
  onLastDay: ({ count, time }: Numbers<'count'> & Strings<'time'>) =>
    plural(count, {
      one: `On the last day of every month at ${time}`,
      other: `On the last day of every # months at ${time}`,
    }),
  onDayOfMonth: ({ count, day, time }: Numbers<'count' | 'day'> & Strings<'time'>) =>
    plural(count, {
      one: `On day ${day} of every month at ${time}`,
      other: `On day ${day} of every # months at ${time}`,
    }),
};
