import { writeNumber } from '../ui/number.ts';
import { type Numbers, rich, type Strings } from './kit.ts';

export const branchSettings = {
  switches: {
    isPushToOtherBranchesAllowed: 'Push to any branch, not only their own',
    isPushOfTagsAllowed: 'Create and update tags',
    isDeletionAllowed: 'Delete branches and tags that they can push to',
  },
  saved: 'Branch and push settings saved.',
  branchesAndPushes: 'Branches and pushes',
  intro:
    'These settings apply to all organizations and take effect with the next push, including pushes by running sessions.',
  branchTemplate: 'Branch template',
  branchTemplateExample: 'switchyard/{slug}-{short id}',
  branchTemplateHint:
    'Leave empty to use the organization’s template. {slug} is the session’s title, and {short id} is the end of its ID. Every template needs {short id}.',
  additionalPushes: 'Sessions can also',
};

export const environmentBuilds = {
  queued: 'Queued',
  running: 'Running',
  ready: 'Ready',
  triggers: { PUSH: 'Push', REQUEST: 'Request', SESSION: 'Session' },
  empty: 'No setups yet.',
  commit: 'Commit',
  started: 'Started',
  lastUsed: 'Last used',
  log: 'Log',
  showLog: ({ commit }: Strings<'commit'>) => `Show the log of the setup at ${commit}`,
  setUps: 'Setups',
  deleteAllResults: 'Delete all results',
  logTitle: 'Setup log',
  deleteTitle: ({ path }: Strings<'path'>) => `Delete all setup results of ${path}?`,
  deleteText:
    'The next session of each organization runs the setup again. Sessions that started with a result keep their files.',
  deleted: 'Setup results deleted.',
};

export const environmentInEffect = {
  inEffect: 'In effect',
  notRead: ({ error }: Strings<'error'>) => `Couldn’t read the repository: ${error}`,
  noDefinition: 'No definition. Sessions start without setup.',
  source: 'Source',
  storedHere: 'This page',
  commit: rich('commit {commit}'),
  readAt: rich('read {time}'),
  setUp: 'Setup',
  startCommands: 'Start',
  line: ({ line }: Numbers<'line'>) => `Line ${writeNumber(line)}: `,
};

export const environment = {
  example: 'setup:\n  - npm ci\nstart: npm run dev\nsecrets: [NPM_TOKEN]\n',
  saved: 'Environment saved. New sessions use it.',
  setUpStarted: 'Setup started. Its log appears in the list below.',
  environment: 'Environment',
  intro: 'Commands that prepare the repository before an agent starts. Later sessions start with the stored result.',
  definitionYaml: 'Definition (YAML)',
  definitionHint:
    'Leave empty to use the repository’s own file, such as .switchyard/environment.yaml. Fields: setup, start, env, secrets, timeout_minutes, lockfiles.',
  onPush: 'Run setup when the default branch changes',
  tryIt: 'Run setup now',
  saveEnvironment: 'Save environment',
};

export const followUpSettings = {
  saved: 'Follow-up settings saved.',
  followUps: 'Follow-ups',
  intro: 'Failed checks, reviews, comments and conflicts of a pull request are sent to the session that works on it.',
  mode: 'Mode',
  modeHint: 'With Suggest, follow-ups wait on the session’s page until a person sends them.',
  automaticForOwn: 'Automatic for pull requests opened by sessions, otherwise Suggest',
  off: 'Off',
  suggest: 'Suggest',
  automatic: 'Automatic',
  people: 'Comments from people',
  writers: 'Anyone with write access',
  commenters: 'Anyone who can comment',
  bots: 'Comments from bots',
  listedBots: 'Only the accounts below',
  allBots: 'All bots',
  botLogins: 'Accounts whose comments always count',
  botLoginsHint: 'Separate names with commas.',
  archive: 'Archive a session when its pull requests are merged or closed',
  saveFollowUps: 'Save follow-ups',
};

export const mentionSettings = {
  saved: 'Mention settings saved.',
  mentions: 'Mentions',
  intro: rich(
    'People with write access can start a session by mentioning the service, usually as {switchyard}, in an issue, pull request, comment or review. Mentions need the webhooks of the Git provider.',
  ),
  enabled: 'Start sessions from mentions',
  organization: 'Organization for these sessions',
  organizationHint: 'Select one if several organizations can use the repository. Otherwise mentions start nothing.',
  onlyOrganization: 'The only organization that can use the repository',
  saveMentions: 'Save mentions',
};

export const noRepositories = {
  noRepositoriesYet: 'No repositories yet',
  noForgeText: 'Connect GitHub, GitLab or Gitea so that sessions can work on your repositories.',
  addGitProvider: 'Add Git provider',
  noPermissionTitle: 'No Git permissions',
  noPermissionText:
    'This organization has no Git permissions, so its sessions can’t use any repository. With several organizations, each one needs its own.',
  addPermission: 'Add Git permission',
  emptyText: 'A repository appears here after the first session that uses it.',
  emptyTextForMember:
    'A repository appears here after the first session that uses it. If sessions can’t find a repository, ask an administrator for a Git permission.',
};

export const repositoriesPage = {
  lastRead: 'Last read',
  searchPlaceholder: 'Part of the path',
  loadingRepositories: 'Loading repositories',
  noMatchesText: 'No repository path contains this text.',
};

export const repositoryPage = {
  repositoryNotFound: 'Repository not found',
  notFoundText: 'No session has used this repository yet, or this organization can’t use it.',
  provider: 'Git provider',
  allRepositories: 'All repositories',
};

export const reviewDialog = {
  reviewAPullRequest: 'Review a pull request',
  start: 'Start review',
  reviewText: 'A session reads the pull request and posts a review as a comment. It gets no secrets and can’t push.',
  pullRequestUrl: 'Pull request URL',
  pullRequestUrlExample: 'https://github.com/owner/name/pull/7',
  instructions: 'Additional instructions',
};
