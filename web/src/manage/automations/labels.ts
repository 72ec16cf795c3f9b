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
  started: 'good',
  failed: 'bad',
  skipped: 'warn',
  queued: 'info',
};

/** The colour of a run's state. */
export const runTone = (status: string): Shown['tone'] => tones[status] ?? 'plain';

const missed: Readonly<Record<string, string>> = {
  latest: 'The last one is made up for',
  skip: 'None is made up for',
  all: 'Each is made up for',
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
  eq: 'is',
  neq: 'is not',
  in: 'is one of',
  'not_in': 'is none of',
  'not_contains': 'does not contain',
  'not_starts_with': 'does not start with',
  'not_ends_with': 'does not end with',
  'gt': 'is above',
  'lt': 'is below',
  'gte': 'is at least',
  'lte': 'is at most',
  'not_matches': 'does not match',
  'globs': 'fits one of',
  'not_globs': 'fits none of',
};

/** An operator of conditions in words. */
export const operatorLabel = (name: string): string => operators[name] ?? name.replaceAll('_', ' ');
