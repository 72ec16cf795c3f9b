/** The frequencies of a rule, as in RFC 5545 3.3.10. */
export const frequencies = ['SECONDLY', 'MINUTELY', 'HOURLY', 'DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'] as const;
/** See {@link frequencies}. */
export type Frequency = (typeof frequencies)[number];

const weekdays = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'];

/** The maximum of INTERVAL and COUNT: counting from the beginning repeats for every search. */
const maxInterval = 100_000;
const maxCount = 1_000;

/** A rule whose parts have all been checked. Times are in UTC. */
export interface Recurrence {
  readonly startsAt: Date;
  readonly frequency: Frequency;
  readonly interval: number;
  /** Null: no count, so that only `until` can end it. */
  readonly count: number | null;
  readonly until: Date | null;
  /** The BY parts and WKST in their canonical form, such as `BYDAY=MO,WE`. */
  readonly parts: ReadonlyMap<string, string>;
}

/** A rule, or its problem as a sentence that begins with the name of the part. */
export type ParsedRecurrence =
  | { readonly rule: Recurrence; readonly problem: null }
  | { readonly rule: null; readonly problem: string };

/** Thrown inside this file only. */
class RecurrenceError extends Error {}

/**
 * Parses the value of a `recurrence` condition: DTSTART and RRULE on two lines, DTSTART and the parts joined by ";", or
 * the parts alone, which begin at `defaultStart`, without its fraction of a second. Times without "Z" are UTC too.
 * Strict: parts, ranges and combinations are those of RFC 5545 3.3.10, without a few rare combinations on which
 * evaluators differ.
 */
export function parseRecurrence(text: string, defaultStart: Date): ParsedRecurrence {
  try {
    return { rule: read(text, defaultStart), problem: null };
  } catch (error) {
    if (error instanceof RecurrenceError) return { rule: null, problem: error.message };
    throw error;
  }
}

function read(text: string, defaultStart: Date): Recurrence {
  if (text.length > 2_000) throw new RecurrenceError('The rule must be at most 2000 characters.');
  const { start, parts } = split(text);
  const frequency = parts.get('FREQ') as Frequency | undefined;
  if (frequency === undefined) throw new RecurrenceError('FREQ is missing.');
  if (!frequencies.includes(frequency)) {
    throw new RecurrenceError(`FREQ must be one of ${frequencies.join(', ')}, but was ${quote(frequency)}.`);
  }
  if (parts.has('COUNT') && parts.has('UNTIL')) throw new RecurrenceError('COUNT and UNTIL must not both be given.');
  const until = parts.get('UNTIL');
  const count = parts.get('COUNT');
  const rule: Recurrence = {
    startsAt:
      start === null ? new Date(Math.floor(defaultStart.getTime() / 1_000) * 1_000) : readTime('DTSTART', start),
    frequency,
    interval: integer('INTERVAL', parts.get('INTERVAL') ?? '1', 1, maxInterval),
    count: count === undefined ? null : integer('COUNT', count, 0, maxCount),
    until: until === undefined ? null : readTime('UNTIL', until),
    parts: new Map(
      [...parts].flatMap(([name, value]) => (isHead(name) ? [] : [[name, readPart(name, value)] as const])),
    ),
  };
  requireCombination(rule);
  return rule;
}

const heads = new Set(['FREQ', 'INTERVAL', 'COUNT', 'UNTIL']);
const isHead = (name: string) => heads.has(name);
const quote = (text: string) => JSON.stringify(text.slice(0, 60));

// DTSTART is on a line of its own, or is the first of the parts.
function split(text: string): { start: string | null; parts: Map<string, string> } {
  // ASCII only: the capitals of a few other letters are also I, K and S.
  const lines = text
    .trim()
    .replaceAll(/[a-z]+/g, (letters) => letters.toUpperCase())
    .split(/\r?\n/)
    .map((line) => line.trim());
  if (lines.some((line) => /^DTSTART\s*;|TZID/.test(line))) {
    throw new RecurrenceError(
      'DTSTART must be a time in UTC, such as DTSTART:20261201T090000Z: TZID is not supported here.',
    );
  }
  const [first = '', second, ...more] = lines;
  const startLine = /^DTSTART:(.*)$/.exec(first);
  const body = startLine ? second : first;
  if (body === undefined || more.length > 0 || (!startLine && second !== undefined)) {
    throw new RecurrenceError('The rule must be one RRULE, after at most one line with DTSTART.');
  }
  const parts = new Map<string, string>();
  for (const part of body.replace(/^RRULE:/, '').split(';')) {
    const [, name, value] = /^([A-Z]+)=(.+)$/.exec(part) ?? [];
    if (name === undefined || value === undefined) {
      throw new RecurrenceError(`Each part must be NAME=VALUE, such as FREQ=DAILY, but one was ${quote(part)}.`);
    }
    if (parts.has(name)) throw new RecurrenceError(`${name} must be given once only.`);
    parts.set(name, value);
  }
  const own = parts.get('DTSTART');
  if (own !== undefined && startLine) throw new RecurrenceError('DTSTART must be given once only.');
  parts.delete('DTSTART');
  return { start: startLine?.[1] ?? own ?? null, parts };
}

function readTime(name: string, text: string): Date {
  const match = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)Z?)?$/.exec(text);
  const [year = 0, month = 0, day = 0, ...clock] = (match ?? []).slice(1).map((digits) => Number(digits ?? Number.NaN));
  const isDay = clock.every(Number.isNaN);
  // The last day of a rule counts completely.
  const [hour = 0, minute = 0, second = 0] = isDay ? (name === 'UNTIL' ? [23, 59, 59] : []) : clock;
  const time = new Date(Date.UTC(year, month - 1, day, hour, minute, second));
  const isReal =
    time.getUTCMonth() === month - 1 && time.getUTCDate() === day && hour < 24 && minute < 60 && second < 60;
  if (!match || !isReal || year < 1900) {
    throw new RecurrenceError(
      `${name} must be a time from the year 1900 on, such as 20261201T090000Z, but was ${quote(text)}.`,
    );
  }
  return time;
}

function integer(name: string, text: string, min: number, max: number): number {
  const value = /^[+-]?\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max)) {
    throw new RecurrenceError(`${name} must be an integer from ${min} to ${max}, but was ${quote(text)}.`);
  }
  return value;
}

/** The maximum number of each list; `isSigned`: negative numbers count from the end, and 0 is invalid. */
const lists = {
  BYSECOND: { max: 59, isSigned: false, min: 0 },
  BYMINUTE: { max: 59, isSigned: false, min: 0 },
  BYHOUR: { max: 23, isSigned: false, min: 0 },
  BYMONTH: { max: 12, isSigned: false, min: 1 },
  BYMONTHDAY: { max: 31, isSigned: true, min: 1 },
  BYYEARDAY: { max: 366, isSigned: true, min: 1 },
  BYWEEKNO: { max: 53, isSigned: true, min: 1 },
  BYSETPOS: { max: 366, isSigned: true, min: 1 },
} as const;

function readPart(name: string, text: string): string {
  if (name === 'WKST') {
    if (weekdays.includes(text)) return text;
    throw new RecurrenceError(`WKST must be one of ${weekdays.join(', ')}, but was ${quote(text)}.`);
  }
  if (name === 'BYDAY') return [...new Set(text.split(',').map(readDay))].join(',');
  const rule = Object.hasOwn(lists, name) ? lists[name as keyof typeof lists] : undefined;
  if (!rule) {
    const known = ['DTSTART', ...heads, 'BYDAY', ...Object.keys(lists), 'WKST'].join(', ');
    throw new RecurrenceError(`${quote(name)} is not a part of a rule. Valid parts are ${known}.`);
  }
  const values = text.split(',').map((each) => {
    const value = integer(name, each, rule.isSigned ? -rule.max : rule.min, rule.max);
    if (value === 0 && rule.isSigned) throw new RecurrenceError(`${name} must not contain 0.`);
    return value;
  });
  return [...new Set(values)].join(',');
}

function readDay(text: string): string {
  const [, ordinal, day] = /^([+-]?\d{1,2})?(MO|TU|WE|TH|FR|SA|SU)$/.exec(text) ?? [];
  const number = ordinal === undefined ? null : Number(ordinal);
  if (day === undefined || number === 0 || Math.abs(number ?? 1) > 53) {
    throw new RecurrenceError(`BYDAY must contain days such as MO, 1MO or -1FR, but one was ${quote(text)}.`);
  }
  return `${number ?? ''}${day}`;
}

// RFC 5545 3.3.10 forbids the first five. The last three are valid, but evaluators disagree about them.
function requireCombination({ frequency, parts }: Recurrence): void {
  const refuse = (isWrong: boolean, message: string) => {
    if (isWrong) throw new RecurrenceError(message);
  };
  const has = (...names: string[]) => names.some((name) => parts.has(name));
  const isOrdinal = /\d/.test(parts.get('BYDAY') ?? '');
  const isLong = frequency === 'MONTHLY' || frequency === 'YEARLY';
  refuse(has('BYWEEKNO') && frequency !== 'YEARLY', 'BYWEEKNO must stand with FREQ=YEARLY only.');
  refuse(
    has('BYYEARDAY') && ['DAILY', 'WEEKLY', 'MONTHLY'].includes(frequency),
    `BYYEARDAY must not stand with FREQ=${frequency}.`,
  );
  refuse(has('BYMONTHDAY') && frequency === 'WEEKLY', 'BYMONTHDAY must not stand with FREQ=WEEKLY.');
  refuse(
    isOrdinal && (!isLong || has('BYWEEKNO')),
    'BYDAY must hold numbered days with FREQ=MONTHLY or FREQ=YEARLY only, and not beside BYWEEKNO.',
  );
  const isSelected = [...parts.keys()].some((name) => name.startsWith('BY') && name !== 'BYSETPOS');
  refuse(has('BYSETPOS') && !isSelected, 'BYSETPOS must stand beside another BY part.');
  refuse(
    has('BYWEEKNO') && has('BYMONTH', 'BYMONTHDAY', 'BYYEARDAY'),
    'BYWEEKNO must not stand beside BYMONTH, BYMONTHDAY or BYYEARDAY.',
  );
  refuse(
    has('BYYEARDAY') && frequency === 'YEARLY' && has('BYMONTHDAY', 'BYDAY'),
    'BYYEARDAY must not stand beside BYMONTHDAY or BYDAY with FREQ=YEARLY.',
  );
  refuse(
    isOrdinal && has('BYMONTHDAY') && frequency === 'YEARLY',
    'BYDAY must not hold numbered days beside BYMONTHDAY with FREQ=YEARLY.',
  );
}
