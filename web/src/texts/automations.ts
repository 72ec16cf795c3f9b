import { writeNumber } from '../ui/number.ts';
import { type Numbers, plural, rich, type Strings } from './kit.ts';

export const automationButtons = {
  viewSession: 'View session',
  runState: ({ name, status }: Strings<'name' | 'status'>) => `${name}: run ${status}.`,
  runNow: 'Run now',
  runNowName: ({ name }: Strings<'name'>) => `Run now: ${name}`,
  deleteText: 'This automation stops running. Sessions that it started are kept.',
};

export const automationFacts = {
  or: 'or',
  timeZone: ({ timeZone }: Strings<'timeZone'>) => `Time zone: ${timeZone}`,
  targetSession: rich('Session: {link}'),
  orNewSession: 'or a new session, if it no longer accepts messages',
  playbook: rich('Playbook: {value}'),
  tags: ({ tags }: Strings<'tags'>) => `Tags: ${tags}`,
  repositories: ({ repos }: Strings<'repos'>) => `Repositories: ${repos}`,
  runLimit: 'Run limit',
  maxQueuedRuns: 'Max queued runs',
  runLimitValue: ({ runs, seconds }: Numbers<'runs' | 'seconds'>) =>
    `${writeNumber(runs)} in ${plural(seconds, { one: '# second', other: '# seconds' })}`,
  and: 'and',
  randomDelay: 'Random delay',
  upToSeconds: ({ seconds }: Numbers<'seconds'>) =>
    plural(seconds, { one: 'up to # second', other: 'up to # seconds' }),
  missedRuns: 'Missed runs',
  runAs: 'Run as',
  creator: 'The automation’s creator',
  otherSettings: 'Other settings',
};

export const automationPage = {
  newAutomation: 'New automation',
  automationNotFound: 'Automation not found',
  configuration: 'Configuration',
  by: ({ name }: Strings<'name'>) => `by ${name}`,
  lastError: 'Last error',
  nextRuns: 'Next runs',
  runs: 'Runs',
  allAutomations: 'All automations',
  webhookUrl: 'Webhook URL',
  setUpGithubGitlab: 'Set up GitHub or GitLab',
  githubSetUp:
    'GitHub: open Settings → Webhooks → Add webhook. Paste this URL as “Payload URL” and the webhook secret as “Secret”, and set “Content type” to application/json.',
  gitlabSetUp:
    'GitLab: open Settings → Webhooks → Add new webhook. Paste this URL as “URL” and the webhook secret as “Secret token”.',
  otherSetUp: 'Other services send the secret in the X-Webhook-Secret header.',
  rotateSecret: 'Rotate secret',
  rotateTitle: 'Rotate the webhook secret?',
  rotateText: 'The current secret stops working immediately. Requests with it are refused.',
};

export const automationsPage = {
  failedTimes: ({ count }: Numbers<'count'>) => plural(count, { one: 'Failed once', other: 'Failed # times' }),
  nextRun: 'Next run',
  lastRun: 'Last run',
  newAutomation: 'New automation',
  noAutomationsYet: 'No automations yet',
  emptyText: 'Automations start sessions on a schedule, after an event or by webhook. Create one to automate a task.',
};

export const madeWebhook = {
  incomingWebhookSecret: 'Incoming webhook secret',
};

export const runs = {
  noRunsYet: 'No runs yet.',
  runs: 'Runs',
  showEarlierRuns: 'Show earlier runs',
};

export const latestAutomation = {
  partLabels: {
    name: 'Name',
    triggers: 'Triggers',
    actions: 'Actions',
    runAs: 'Run as',
    limits: 'Limits',
    concurrency: 'Concurrency',
    missedRuns: 'Missed runs',
    jitterSeconds: 'Random delay',
    metadata: 'Metadata',
    notifications: 'Notifications',
    sessionSettings: 'Session settings',
    securityProfile: 'Security profile',
    templateId: 'Template',
    tools: 'Tools',
  },
};
