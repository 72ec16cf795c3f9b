import { type Numbers, plural, type Strings } from './kit.ts';

export const usagePage = {
  title: 'Usage',
  loading: 'Loading usage',
  noOrganization: 'No organization',
  scope: 'Scope',
  allOrganizations: 'All organizations',
  period: 'Period',
  periods: { 7: 'Last 7 days', 30: 'Last 30 days', 90: 'Last 90 days', month: 'This month', custom: 'Custom' },
  from: 'From',
  to: 'To',
  compare: 'Compare with the previous period',
};

export const usageDays = {
  bothMissing: 'Enter both days.',
  wrongOrder: 'The first day must not be after the last.',
  tooMany: 'Select at most 400 days.',
};

export const usageQueue = {
  size: ({ count, load }: Numbers<'count'> & Strings<'load'>) =>
    `${plural(count, { one: '# session', other: '# sessions' })} in the queue (${load} load)`,
  loads: { NORMAL: 'normal', ELEVATED: 'elevated', HIGH: 'high' },
};

export const usageAccess = {
  title: 'No access to usage',
  organizationText: 'You need a role with access to usage.',
  enterpriseText: 'You need an enterprise role to view this page.',
};

export const usageTotals = {
  cost: 'Model cost',
  costHint: 'Models without a known price aren’t included.',
  sessions: 'Sessions started',
  acusPerSession: 'ACUs per session',
  acusPerSessionHint: 'ACUs divided by sessions started.',
  activePeople: 'Active people',
  activePeopleHint: 'People who started sessions. Service users aren’t counted.',
  pullRequests: 'Pull requests opened',
  none: 'None',
  merged: ({ count }: Strings<'count'>) => `${count} merged so far`,
  change: ({ percent, before }: Strings<'percent' | 'before'>) => `${percent} from ${before}`,
  before: ({ before }: Strings<'before'>) => `Previously: ${before}`,
};

export const usageFigures = {
  acus: 'ACUs',
  acusBefore: 'Previous period',
  cost: 'Model cost (USD)',
  day: 'Day',
  sessions: 'Sessions',
  acusByDay: 'ACUs by day',
  acusByOrganization: 'ACUs by organization',
  acusByUser: 'ACUs by user',
  acusByPlaybook: 'ACUs by playbook',
  sessionsByOutcome: 'Sessions by outcome',
  sessionsBySize: 'Sessions by size',
  organization: 'Organization',
  user: 'User',
  playbook: 'Playbook',
  outcome: 'Outcome',
  size: 'Size',
  noPlaybook: 'No playbook',
  unknownUser: 'Unknown',
  serviceUser: ({ name }: Strings<'name'>) => `${name} (service user)`,
  outcomes: {
    OPEN: 'In progress',
    FINISHED: 'Finished',
    TERMINATED: 'Terminated',
    EXPIRED: 'Expired',
    FAILED: 'Failed',
  },
  sizes: {
    XS: 'XS, less than 1 ACU',
    S: 'S, less than 3',
    M: 'M, less than 6',
    L: 'L, less than 12',
    XL: 'XL, 12 or more',
  },
  newestOnly: 'Only the newest 100 are included.',
};

export const usageBudget = {
  title: ({ month }: Strings<'month'>) => `ACU budget, ${month}`,
  used: ({ used, limit, percent }: Strings<'used' | 'limit' | 'percent'>) =>
    `${used} of ${limit} ACUs used (${percent}). The budget resets at the start of each month (UTC).`,
  spent: 'The budget is spent. Sessions continue when the limit is raised or the next month starts.',
  usedSoFar: 'ACUs since the start of the month',
  limit: ({ limit }: Strings<'limit'>) => `Limit: ${limit}`,
};

export const usageFigure = {
  table: 'Table',
  chart: 'Chart',
  showTable: ({ title }: Strings<'title'>) => `Show as table: ${title}`,
  showChart: ({ title }: Strings<'title'>) => `Show as chart: ${title}`,
  exportCsv: 'Export CSV',
  exportTitle: ({ title }: Strings<'title'>) => `Export CSV: ${title}`,
  asTable: ({ title }: Strings<'title'>) => `${title}, as a table`,
  asChart: ({ title }: Strings<'title'>) => `${title}, as a chart`,
  noData: 'No data for these days.',
  more: ({ count }: Numbers<'count'>) => plural(count, { one: '# more in the table', other: '# more in the table' }),
};

export const usageChart = {
  unknown: '–',
  unit: 'ACUs',
  acus: ({ count }: Numbers<'count'>) => plural(count, { one: '# ACU', other: '# ACUs' }),
  withCost: ({ acus, cost }: Strings<'acus' | 'cost'>) => `${acus}, ${cost}`,
  point: ({ label, value }: Strings<'label' | 'value'>) => `${label}: ${value}`,
  pointBefore: ({ label, value, before, labelBefore }: Strings<'label' | 'value' | 'before' | 'labelBefore'>) =>
    `${label}: ${value}. Previous period, ${labelBefore}: ${before}`,
  keysHint: 'Use the arrow keys to move between days.',
  keysHintOpen: 'Use the arrow keys to move between days, and Enter to show the sessions of a day.',
  showSessions: 'Show sessions',
  thisPeriod: 'This period',
  previousPeriod: 'Previous period',
};

export const usedSessions = {
  titleDay: ({ day }: Strings<'day'>) => `Sessions that used ACUs on ${day}`,
  titleUser: ({ from, to }: Strings<'from' | 'to'>) => `Sessions of this user, ${from} to ${to}`,
  session: 'Session',
  startedBy: 'Started by',
  acus: 'ACUs',
  cost: 'Model cost',
  untitled: 'Untitled session',
  none: 'No sessions used ACUs.',
  newestFirst: 'Newest sessions first.',
  sortedByAcus: 'Most ACUs first.',
  close: 'Close',
  service: 'Switchyard',
  newer: 'Newer',
  older: 'Older',
};

export const usageFilters = {
  label: 'Filters from Usage',
  withArchived: 'Including archived',
  remove: ({ filter }: Strings<'filter'>) => `Remove filter: ${filter}`,
};
