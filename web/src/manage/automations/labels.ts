import type { Shown } from '../../ui/status.ts';

const events: Readonly<Record<string, string>> = {
  'schedule:recurring': 'At times',
  'webhook:incoming': 'Incoming webhook',
  'manual': 'By hand',
  'session:finished': 'When a session has finished',
  'session:blocked': 'When a session waits for a user',
  'session:error': 'When a session could not go on',
  'session:suspended': 'When a session was put to sleep',
  'session:terminated': 'When a session was ended',
};

/** A short label of a trigger's event. */
export const eventLabel = (eventType: string): string => events[eventType] ?? eventType;

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

const missed: Readonly<Record<string, string>> = {
  LATEST: 'The last one is made up for',
  SKIP: 'None is made up for',
  ALL: 'Each is made up for',
};

/** The label of a policy for missed occurrences. */
export const missedLabel = (missedRuns: string): string => missed[missedRuns] ?? missedRuns;

const actions: Readonly<Record<string, string>> = {
  'start_session': 'Starts a session',
  'message_session': 'Writes to a session',
  'monitor_session': 'Watches a channel',
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
  GT: 'is above',
  LT: 'is below',
  GTE: 'is at least',
  LTE: 'is at most',
  NOT_MATCHES: 'does not match',
  GLOBS: 'fits one of',
  NOT_GLOBS: 'fits none of',
};

/** The label of a condition operator. */
export const operatorLabel = (name: string): string => operators[name] ?? name.replaceAll('_', ' ').toLowerCase();
