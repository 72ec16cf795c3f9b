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

/** What a trigger waits for, in a few words. */
export const eventLabel = (eventType: string): string => events[eventType] ?? eventType;

/** As {@link eventLabel}, of a trigger. */
export const triggerLabel = ({ eventType }: { readonly eventType: string }): string => eventLabel(eventType);

const tones: Readonly<Record<string, Shown['tone']>> = {
  STARTED: 'good',
  FAILED: 'bad',
  SKIPPED: 'warn',
  QUEUED: 'info',
};

/** The colour of a run's state. */
export const runTone = (status: string): Shown['tone'] => tones[status] ?? 'plain';

const missed: Readonly<Record<string, string>> = {
  LATEST: 'The last one is made up for',
  SKIP: 'None is made up for',
  ALL: 'Each is made up for',
};

/** What is done about times that were missed. */
export const missedLabel = (missedRuns: string): string => missed[missedRuns] ?? missedRuns;

const actions: Readonly<Record<string, string>> = {
  'start_session': 'Starts a session',
  'message_session': 'Writes to a session',
  'monitor_session': 'Watches a channel',
};

/** What an action does, in a few words. */
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

/** An operator of conditions in words. */
export const operatorLabel = (name: string): string => operators[name] ?? name.replaceAll('_', ' ').toLowerCase();
