import { plural, rich, type Strings } from './kit.ts';

export const followUpMessage = {
  message: 'Message',
  messageOf: ({ named }: Strings<'named'>) => `Message: ${named}`,
  loading: 'Loading the message…',
  noAccess: 'You no longer have access to this message.',
};

export const followUpText = {
  modeNames: { OFF: 'Off', SUGGEST: 'Suggest', AUTO: 'Automatic' },
  kindNames: { CHECKS: 'Failed checks', REVIEW: 'Review', COMMENTS: 'Comments', CONFLICT: 'Conflict' },
  stateNames: {
    SUGGESTED: 'not sent yet',
    SENT: 'sent',
    DISMISSED: 'dismissed',
    CAPPED: 'stopped by a limit',
    SKIPPED: 'not sent',
  },
  collectingThenSent: 'still collecting comments, then sent',
  collecting: 'still collecting comments, not sent yet',
  aboutToBeSent: 'about to be sent',
  notSentYet: 'not sent yet',
  stoppedByChecks: 'Follow-ups stopped: checks failed again after 3 follow-ups in a row.',
  stoppedByDay: 'Follow-ups stopped: the session received 10 follow-ups in 24 hours.',
};

export const followUps = {
  earlier: (count: number) => plural(count, { one: '# earlier follow-up', other: '# earlier follow-ups' }),
  kind: 'Follow-up',
  named: ({ kind, summary }: Strings<'kind' | 'summary'>) => `${kind}: ${summary}`,
  defaultMode: ({ name, mode }: Strings<'name' | 'mode'>) => `${name}: ${mode}`,

  byDefault: 'Default',
  asTheRepository: 'Same as the repository',
  label: 'Follow-ups',
  send: 'Send',
  sendName: ({ named }: Strings<'named'>) => `Send: ${named}`,
  dismiss: 'Dismiss',
  dismissName: ({ named }: Strings<'named'>) => `Dismiss: ${named}`,
};

export const openPullRequest = {
  opened: 'Pull request opened.',
  openPullRequest: 'Open pull request',
  title: 'Open a pull request',
  open: 'Open',
  from: rich('From {branch} of {repository}'),
  notPushed: 'The agent hasn’t pushed this branch. The pull request can’t be opened unless someone else pushed it.',
  askToPush: 'Ask the agent to push',
  /** A message to the agent. */
  pushMessage: ({ branch }: Strings<'branch'>) => `Commit your changes and push the branch ${branch}.`,
  requested: 'Message sent. Open the pull request when the agent has pushed.',
  text: 'Text',
  bodyHint: 'Markdown is supported. Leave empty to use the repository’s template.',
  base: 'Base',
  baseHint: 'Leave empty to use the branch that the session started from.',
  labels: 'Labels',
  labelsHint: 'Separate labels with commas.',
  reviewers: 'Reviewers',
  reviewersHint: 'Separate usernames with commas.',
  draft: 'Draft',
};

/** Words for the states of pull requests. */
export const pullRequestBadge = { OPEN: 'Open', MERGED: 'Merged', CLOSED: 'Closed', DRAFT: 'Draft' };

export const pullRequestText = {
  canBeMerged: 'Can be merged',
  conflicts: 'Conflicts with its base',
  blocked: 'Merge blocked',
  failed: 'failed',
  needsAPerson: 'action required',
  cancelled: 'cancelled',
  running: 'running',
  queued: 'queued',
  passed: 'passed',
  neutral: 'neutral',
  skipped: 'skipped',
  checks: ({ states }: Strings<'states'>) => `Checks: ${states}`,
  approved: 'approved',
  requestedChanges: 'requested changes',
  commented: 'commented',
  reviewDismissed: 'review dismissed',
  somebody: 'Someone',
  events: { OPEN: 'Opened pull request', MERGED: 'Merged pull request', CLOSED: 'Closed pull request' },
  reviews: 'Reviewing pull request',
};

export const pullRequests = {
  pullRequests: 'Pull requests',
  reviewTexts: {
    PENDING: 'The session will review this pull request.',
    RUNNING: 'The session is reviewing this pull request.',
    COMPLETED: 'The session posted its review.',
    ERRORED: 'The session hasn’t posted a review. Send it a message to continue.',
  },
  readIt: 'Read review',
  into: rich('{headBranch} into {baseBranch}'),
  more: 'Open the pull request to see all checks and reviews.',
};
