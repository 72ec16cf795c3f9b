/** The fields of a cron expression in order, each with its range and the names of its numbers. */
const fields = [
  { name: 'minute', min: 0, max: 59, names: [] },
  { name: 'hour', min: 0, max: 23, names: [] },
  { name: 'day of the month', min: 1, max: 31, names: [] },
  {
    name: 'month',
    min: 1,
    max: 12,
    names: ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'],
  },
  { name: 'day of the week', min: 0, max: 7, names: ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'] },
] as const;

const shorthands: ReadonlyMap<string, string> = new Map([
  ['@hourly', '0 * * * *'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@weekly', '0 0 * * 0'],
  ['@monthly', '0 0 1 * *'],
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
]);

const weekdays = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'] as const;

/** The numbers of a field; `isAny`: it matches all of them. */
interface Field {
  readonly values: readonly number[];
  readonly isAny: boolean;
}

/**
 * Converts a cron expression (five fields, UTC) to RRULEs without DTSTART; null if it is invalid. It becomes two rules
 * if it has days of the month and of the week, of which either suffices. `interval`: every nth hour, day, week, month
 * or year, counted from DTSTART.
 */
export function rulesOfCron(expression: string, interval: number): string[] | null {
  const text = expression.trim();
  const texts = (shorthands.get(text.toLowerCase()) ?? text).split(/\s+/);
  const read = texts.length === fields.length ? texts.map((each, n) => readField(each, fields[n] ?? fields[0])) : [];
  const [minute, hour, day, month, weekday] = read;
  if (!minute || !hour || !day || !month || !weekday) return null;
  const by = (name: string, values: readonly (number | string)[]) => `;BY${name}=${values.join(',')}`;
  const clock = `${by('HOUR', hour.values)}${by('MINUTE', minute.values)};BYSECOND=0`;
  const months = month.isAny ? '' : by('MONTH', month.values);
  const rule = (frequency: string, more: string) => `FREQ=${frequency};INTERVAL=${interval}${more}`;
  const rules: string[] = [];
  if (!day.isAny) rules.push(rule(month.isAny ? 'MONTHLY' : 'YEARLY', months + by('MONTHDAY', day.values) + clock));
  if (!weekday.isAny) {
    const days = [...new Set(weekday.values.map((value) => weekdays[value] ?? 'SU'))];
    rules.push(rule('WEEKLY', months + by('DAY', days) + clock));
  }
  if (rules.length > 0) return rules;
  if (!month.isAny || !hour.isAny) return [rule('DAILY', months + clock)];
  return [rule('HOURLY', `${by('MINUTE', minute.values)};BYSECOND=0`)];
}

function readField(text: string, field: (typeof fields)[number]): Field | null {
  const values = new Set<number>();
  for (const part of text.split(',')) {
    const found = readRange(part, field);
    if (found === null) return null;
    for (const value of found) values.add(value);
  }
  return { values: [...values].toSorted((one, other) => one - other), isAny: text === '*' };
}

// Accepts "*", "5" and "1-5", each optionally with "/2"; "5/2" continues to the end of the range.
function readRange(text: string, { min, max, names }: (typeof fields)[number]): number[] | null {
  const [, start = '', end, step] = /^(\*|\w+)(?:-(\w+))?(?:\/(\d{1,2}))?$/.exec(text) ?? [];
  const number = (word: string): number => {
    const named = (names as readonly string[]).indexOf(word.toUpperCase());
    if (named >= 0) return named + min;
    return /^\d{1,2}$/.test(word) ? Number(word) : Number.NaN;
  };
  if (start === '' || (start === '*' && end !== undefined) || step === '0' || step === '00') return null;
  const first = start === '*' ? min : number(start);
  const isOpen = start === '*' || (end === undefined && step !== undefined);
  const last = isOpen ? max : number(end ?? start);
  if (!(first >= min && last <= max && first <= last)) return null;
  const values: number[] = [];
  for (let value = first; value <= last; value += Number(step ?? 1)) values.push(value);
  return values;
}
