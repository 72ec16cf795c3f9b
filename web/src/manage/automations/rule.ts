import { rule as texts } from '../../texts/automation-form.ts';
/** A recurrence rule as fields of a form. */
export interface RuleFields {
  readonly every: 'minutes' | 'hours' | 'day' | 'weekdays' | 'week' | 'month' | 'own';
  /** The number of minutes or hours; at least 15 for minutes. */
  readonly interval: number;
  /** "09:30"; empty: none is entered. */
  readonly time: string;
  /** Weekdays: "MO", "TU" and so on, at least one. */
  readonly days: readonly string[];
  /** The day of the month: 1 to 31, or -1 for the last. */
  readonly dayOfMonth: number;
  /** The rule's text, if `every` is `own`. */
  readonly own: string;
}

/** The weekdays as rules write them. */
export const weekdays = [
  ['MO', texts.monday],
  ['TU', texts.tuesday],
  ['WE', texts.wednesday],
  ['TH', texts.thursday],
  ['FR', texts.friday],
  ['SA', texts.saturday],
  ['SU', texts.sunday],
] as const;

/** Returns true if the rule has a time of the day. */
export const isTimed = ({ every }: Pick<RuleFields, 'every'>): boolean => !['minutes', 'hours', 'own'].includes(every);

/** Returns the weekdays or the time that the rule lacks, as a sentence; null: it is complete. */
export function ruleProblem({ every, days, time }: RuleFields): string | null {
  if (every === 'week' && days.length === 0) return texts.noDay;
  return isTimed({ every }) && time === '' ? texts.noTime : null;
}

/** The days that "weekdays" stands for. */
const workingDays = ['MO', 'TU', 'WE', 'TH', 'FR'];

const standard: RuleFields = {
  every: 'weekdays',
  interval: 1,
  time: '09:00',
  days: workingDays,
  dayOfMonth: 1,
  own: '',
};

/** The rule (RFC 5545) of these form fields. */
export function writeRule(fields: RuleFields): string {
  const [hour = 0, minute = 0] = fields.time.split(':').map(Number);
  const at = `BYHOUR=${hour};BYMINUTE=${minute};BYSECOND=0`;
  const interval = fields.interval > 1 ? `;INTERVAL=${fields.interval}` : '';
  switch (fields.every) {
    case 'minutes':
      return `FREQ=MINUTELY;INTERVAL=${fields.interval};BYSECOND=0`;
    case 'hours':
      return `FREQ=HOURLY${interval};BYMINUTE=${minute};BYSECOND=0`;
    case 'day':
      return `FREQ=DAILY${interval};${at}`;
    case 'weekdays':
      return `FREQ=WEEKLY;BYDAY=${workingDays.join(',')};${at}`;
    case 'week':
      return `FREQ=WEEKLY${interval};BYDAY=${weekdays.flatMap(([day]) => (fields.days.includes(day) ? [day] : [])).join(',')};${at}`;
    case 'month':
      return `FREQ=MONTHLY${interval};BYMONTHDAY=${fields.dayOfMonth};${at}`;
    case 'own':
      return fields.own;
  }
}

/**
 * Converts a rule to form fields, or to `own` if the fields cannot express it. An empty rule gives the initial values.
 */
export function readRule(rule: string): RuleFields {
  if (rule === '') return standard;
  const parts = new Map(rule.split(';').map((part) => part.split('=') as [string, string]));
  const number = (name: string, otherwise: number) => Number(parts.get(name) ?? otherwise);
  const two = (n: number) => String(n).padStart(2, '0');
  const every = ({ MINUTELY: 'minutes', HOURLY: 'hours', DAILY: 'day', WEEKLY: 'week', MONTHLY: 'month' } as const)[
    parts.get('FREQ') ?? ''
  ];
  const fields: RuleFields = {
    every: every ?? 'own',
    interval: number('INTERVAL', 1),
    time: `${two(number('BYHOUR', 0))}:${two(number('BYMINUTE', 0))}`,
    days: parts.get('BYDAY')?.split(',') ?? standard.days,
    dayOfMonth: number('BYMONTHDAY', 1),
    own: rule,
  };
  const onWeekdays: RuleFields = { ...fields, every: 'weekdays', days: workingDays };
  const sort = (text: string) => text.split(';').toSorted().join(';');
  if (sort(writeRule(onWeekdays)) === sort(rule)) return onWeekdays;
  return every && sort(writeRule(fields)) === sort(rule) ? fields : { ...standard, every: 'own', own: rule };
}
