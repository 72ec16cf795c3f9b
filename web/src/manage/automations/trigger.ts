import { type Condition, type ConditionDraft, readCondition, writeCondition } from './condition.ts';
import { type RuleFields, readRule, writeRule } from './rule.ts';

/** A trigger as the service takes it. */
export interface Trigger {
  readonly eventType: string;
  readonly conditions: { readonly any: readonly { readonly all: readonly Condition[] }[] } | null;
  readonly timeZone: string | null;
  readonly replies: readonly string[];
}

/** Conditions that must all hold, in a form. */
export interface GroupDraft {
  readonly key: number;
  readonly all: readonly ConditionDraft[];
}

/** A trigger in a form. */
export interface TriggerDraft {
  /** Identifies it while the form is open. */
  readonly key: number;
  readonly eventType: string;
  readonly rule: RuleFields;
  readonly timeZone: string;
  /** Any of the groups suffices; none: every event of the type. */
  readonly groups: readonly GroupDraft[];
  /** Kept as stored; the form has no field for it. */
  readonly replies: readonly string[];
  /** The stored trigger, and its rule as the form read it; null for a new one. */
  readonly base: { readonly trigger: Trigger; readonly rule: RuleFields } | null;
}

/** The event of schedule triggers. */
export const recurring = 'schedule:recurring';
/** The event of incoming webhooks. */
export const incoming = 'webhook:incoming';

/** Returns the type of an event's field, from the schemas; null if unknown. */
export type FieldTypes = (eventType: string, field: string) => string | null;

// Starts above all keys in drafts saved before the page was loaded.
let lastKey = Date.now();

/** A key for a part of a form. */
export const newKey = (): number => ++lastKey;

/** The initial values of a new trigger. */
export function newTrigger(eventType: string = recurring): TriggerDraft {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return { key: newKey(), eventType, rule: readRule(''), timeZone, groups: [], replies: [], base: null };
}

/** Converts a trigger to its form. */
export function readTrigger(trigger: Trigger, typeOf: FieldTypes): TriggerDraft {
  const { eventType, timeZone, replies } = trigger;
  const groups = trigger.conditions?.any ?? [];
  const isRecurring = eventType === recurring;
  const rule = readRule(isRecurring ? ruleOf(trigger) : '');
  return {
    key: newKey(),
    eventType,
    rule,
    timeZone: timeZone ?? 'UTC',
    groups: isRecurring
      ? []
      : groups.map(({ all }) => ({
          key: newKey(),
          all: all.map((condition) => readCondition(condition, typeOf(eventType, condition.field))),
        })),
    replies,
    base: { trigger, rule },
  };
}

/** The conditions of a schedule trigger. */
export const conditionsOf = (value: string) => ({
  any: [{ all: [{ field: 'rrule', operator: 'RECURRENCE', value }] }],
});

/** Converts a form to a trigger; unchanged parts keep their stored value. */
export function writeTrigger(draft: TriggerDraft, typeOf: FieldTypes): Trigger {
  const { eventType, rule, timeZone, groups, replies, base } = draft;
  const isRecurring = eventType === recurring;
  const value = base?.rule === rule ? ruleOf(base.trigger) : writeRule(rule);
  const zone = timeZone === (base?.trigger.timeZone ?? 'UTC') ? (base?.trigger.timeZone ?? null) : timeZone;
  const any = isRecurring
    ? conditionsOf(value).any
    : groups.map(({ all }) => ({ all: all.map((each) => writeCondition(each, typeOf(eventType, each.field))) }));
  return {
    eventType,
    conditions: any.length > 0 ? { any } : null,
    timeZone: isRecurring ? zone : null,
    replies,
  };
}

/** The rule of a schedule trigger. */
export const ruleOf = ({ conditions }: Trigger): string => String(conditions?.any[0]?.all[0]?.value ?? '');
