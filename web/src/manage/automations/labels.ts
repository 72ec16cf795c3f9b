import type { Shown } from '../../ui/status.ts';

const events: Readonly<Record<string, string>> = {
  'schedule:recurring': 'At times',
  'webhook:incoming': 'Incoming webhook',
  manual: 'By hand',
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

const operators: Readonly<Record<string, string>> = {
  eq: 'is',
  neq: 'is not',
  in: 'is one of',
  'not_in': 'is none of',
};

/** An operator of conditions in words. */
export const operatorLabel = (name: string): string => operators[name] ?? name.replaceAll('_', ' ');
