import { labels as texts } from '../../texts/automation-form.ts';
import type { Shown } from '../../ui/status.ts';

const events: Readonly<Record<string, string>> = texts.events;

/** A short label of a trigger's event. */
export function eventLabel(eventType: string): string {
  return events[eventType] ?? eventType;
}

const groups: Readonly<Record<string, string>> = texts.groups;

/** Groups the events of triggers by what sends them, in the order of the first of each. */
export function eventGroups(
  eventTypes: readonly string[],
): readonly { readonly label: string; readonly names: readonly string[] }[] {
  const found = new Map<string, string[]>();
  for (const name of new Set(eventTypes)) {
    const label = groups[name.split(':')[0] ?? ''] ?? texts.otherGroup;
    found.set(label, [...(found.get(label) ?? []), name]);
  }
  return [...found].map(([label, names]) => ({ label, names }));
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

const missed: Readonly<Record<string, string>> = texts.missed;

/** The label of a policy for missed occurrences. */
export const missedLabel = (missedRuns: string): string => missed[missedRuns] ?? missedRuns;

const actions: Readonly<Record<string, string>> = texts.actions;

/** A short label of an action. */
export const actionLabel = (type: string): string => actions[type] ?? type;

const operators: Readonly<Record<string, string>> = texts.operators;

/** The label of a condition operator. */
export const operatorLabel = (name: string): string => operators[name] ?? name.replaceAll('_', ' ').toLowerCase();
