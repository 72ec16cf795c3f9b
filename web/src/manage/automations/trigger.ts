import { type RuleFields, readRule, writeRule } from './rule.ts';

/** A condition as it stands in a form: its value is JSON, or a text where it is none. */
export interface ConditionDraft {
  readonly field: string;
  readonly operator: string;
  readonly value: string;
}

/** A trigger as it stands in a form. */
export interface TriggerDraft {
  readonly eventType: string;
  readonly rule: RuleFields;
  readonly timeZone: string;
  /** All of which must hold. */
  readonly conditions: readonly ConditionDraft[];
}

interface Trigger {
  readonly eventType: string;
  readonly timeZone?: string | null | undefined;
  readonly conditions?:
    | {
        readonly any: readonly {
          readonly all: readonly { readonly field: string; readonly operator: string; readonly value?: unknown }[];
        }[];
      }
    | null
    | undefined;
}

/** The event of triggers that come at times. */
export const recurring = 'schedule:recurring';

/** What a form shows of the triggers of an automation; none: what a new one begins with. Null: more than it can. */
export function readTrigger(triggers: readonly Trigger[]): TriggerDraft | null {
  const [only, ...others] = triggers;
  if (!only) {
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
    return { eventType: recurring, rule: readRule(''), timeZone, conditions: [] };
  }
  const groups = only.conditions?.any ?? [];
  if (others.length > 0 || groups.length > 1) return null;
  const all = groups[0]?.all ?? [];
  const isRecurring = only.eventType === recurring;
  return {
    eventType: only.eventType,
    rule: readRule(isRecurring ? String(all[0]?.value ?? '') : ''),
    timeZone: only.timeZone ?? 'UTC',
    conditions: isRecurring
      ? []
      : all.map(({ field, operator, value }) => ({ field, operator, value: writeValue(value) })),
  };
}

/** A trigger as the service takes it. */
export function writeTrigger(
  { eventType, rule, timeZone, conditions }: TriggerDraft,
  replies: readonly string[] | null,
) {
  const all =
    eventType === recurring
      ? [{ field: 'rrule', operator: 'recurrence', value: writeRule(rule) as unknown }]
      : conditions.map(({ field, operator, value }) => ({ field, operator, value: readValue(value) }));
  return {
    eventType,
    replies,
    timeZone: eventType === recurring && timeZone !== 'UTC' ? timeZone : null,
    conditions: all.length > 0 ? { any: [{ all }] } : null,
  };
}

function writeValue(value: unknown): string {
  return value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);
}

// Numbers, lists and truths are what they look like; all else is a text.
function readValue(text: string): unknown {
  if (text === '') return null;
  if (!/^(?:-?\d|\[|\{|true$|false$)/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
