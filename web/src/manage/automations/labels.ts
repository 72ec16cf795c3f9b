import type { Shown } from '../../ui/status.ts';

const events: Readonly<Record<string, string>> = {
  'schedule:recurring': 'Schedule',
  'webhook:incoming': 'Incoming webhook',
  'manual': 'Manual',
  'session:finished': 'Session finished',
  'session:blocked': 'Session waiting for a user',
  'session:error': 'Session failed',
  'session:suspended': 'Session suspended',
  'session:terminated': 'Session terminated',
  'session:pull_request_merged': 'Pull request merged',
  'session:pull_request_closed': 'Pull request closed',
};

const forges: Readonly<Record<string, string>> = { github: 'GitHub', gitlab: 'GitLab', gitea: 'Gitea' };

/** A short label of a trigger's event. */
export function eventLabel(eventType: string): string {
  const [source = '', word = ''] = eventType.split(':');
  const forge = forges[source];
  return events[eventType] ?? (forge === undefined ? eventType : `${forge}: ${word.replaceAll('_', ' ')}`);
}

/** {@link eventLabel} for a trigger. */
export const triggerLabel = ({ eventType }: { readonly eventType: string }): string => eventLabel(eventType);

const tones: Readonly<Record<string, Shown['tone']>> = {
  STARTED: 'good',
  FAILED: 'bad',
  SKIPPED: 'warn',
  QUEUED: 'info',
};

/** The badge colour of a run's status. */
export const runTone = (status: string): Shown['tone'] => tones[status] ?? 'plain';

/** The label of a run's status, such as "Started". */
export const runLabel = (status: string): string => status.charAt(0) + status.slice(1).toLowerCase();

const missed: Readonly<Record<string, string>> = {
  LATEST: 'Run the latest',
  SKIP: 'Run none',
  ALL: 'Run all',
};

/** The label of a policy for missed occurrences. */
export const missedLabel = (missedRuns: string): string => missed[missedRuns] ?? missedRuns;

const actions: Readonly<Record<string, string>> = {
  'start_session': 'Start a session',
  'message_session': 'Message a session',
  'monitor_session': 'Watch a channel',
};

/** A short label of an action. */
export const actionLabel = (type: string): string => actions[type] ?? type;

const operators: Readonly<Record<string, string>> = {
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
};

/** The label of a condition operator. */
export const operatorLabel = (name: string): string => operators[name] ?? name.replaceAll('_', ' ').toLowerCase();
