import { readFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { nextOccurrences, recurrenceProblem } from '../../../src/domain/automations/recurrence/recurrence.ts';
import { parseRecurrence, type Recurrence } from '../../../src/domain/automations/recurrence/recurrence-rule.ts';

interface Case {
  readonly name: string;
  readonly s: string;
  readonly exp: readonly string[];
}

/** Rules with their known occurrences: from the tests of python-dateutil, one per line. */
const cases: Case[] = readFileSync(new URL('rrule-cases.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));

/** Combinations that RFC 5545, 3.3.10, forbids with MUST NOT: the only cases that are not evaluated. */
const unlawful = [
  /^BYWEEKNO must stand with FREQ=YEARLY only\.$/,
  /^BYYEARDAY must not stand with FREQ=(?:DAILY|WEEKLY|MONTHLY)\.$/,
  /^BYMONTHDAY must not stand with FREQ=WEEKLY\.$/,
];

const now = new Date('2026-11-21T00:00:00.500Z');

function ruleOf(text: string): Recurrence {
  const { rule, problem } = parseRecurrence(text, now);
  if (rule === null) throw new Error(problem);
  return rule;
}

const textOf = (times: readonly Date[]) => times.map((time) => time.toISOString().replace(/(?::00)?\.000Z$/, ''));

describe('known rules', () => {
  const read = cases.map((each) => ({ ...each, ...parseRecurrence(each.s, now) }));

  test.each(read.filter(({ rule }) => rule !== null))('$name: $s', ({ rule, exp }) => {
    if (rule === null) throw new Error('It was read above.');
    const before = new Date(rule.startsAt.getTime() - 1);
    const times = nextOccurrences(rule, before, Math.max(exp.length, 1)).map((time) => time.toISOString().slice(0, 19));
    expect(times).toEqual(exp);
  });

  test('the rejected ones are invalid, and at most 46 of 224', () => {
    const refused = read.filter(({ rule }) => rule === null);
    const lawful = refused.filter(({ problem }) => !unlawful.some((each) => each.test(problem ?? '')));
    expect(lawful.map(({ s, problem }) => `${s}: ${problem}`)).toEqual([]);
    expect([read.length, refused.length]).toEqual([224, 46]);
  });
});

describe('the forms of a rule', () => {
  test.each([
    ['two lines', 'DTSTART:20261201T090000Z\nRRULE:FREQ=DAILY;COUNT=1', ['2026-12-01T09:00']],
    ['lines of other systems', 'DTSTART:20261201T090000Z\r\nRRULE:FREQ=DAILY;COUNT=1\r\n', ['2026-12-01T09:00']],
    ['one line', 'DTSTART=20261201T090000Z;FREQ=DAILY;COUNT=1', ['2026-12-01T09:00']],
    ['without Z', 'DTSTART:20261201T090000\nRRULE:FREQ=DAILY;COUNT=1', ['2026-12-01T09:00']],
    ['a day', 'DTSTART:20261201\nRRULE:FREQ=DAILY;UNTIL=20261202', ['2026-12-01T00:00', '2026-12-02T00:00']],
    ['small letters', 'freq=weekly;byday=mo;byhour=9;byminute=0;bysecond=0;count=1', ['2026-11-23T09:00']],
    ['no DTSTART: whole seconds of the given moment', 'RRULE:FREQ=DAILY;COUNT=2', ['2026-11-22T00:00']],
  ])('%s', (_what, text, times) => {
    expect(textOf(nextOccurrences(ruleOf(text), now, 5))).toEqual(times);
  });

  test.each([
    ['', /NAME=VALUE/],
    ['FREQ=DAILY;', /NAME=VALUE/],
    ['FREQ=DAILY;FREQ=DAILY', /once only/],
    ['FREQ=FORTNIGHTLY', /FREQ must be one of/],
    ['FREQ=DAILY;INTERVAL=0', /INTERVAL.*from 1/],
    ['FREQ=DAILY;INTERVAL=-1', /INTERVAL/],
    ['FREQ=DAILY;INTERVAL=1e3', /INTERVAL/],
    ['FREQ=DAILY;COUNT=1001', /COUNT.*1000/],
    ['FREQ=DAILY;COUNT=1;UNTIL=20270101T000000Z', /COUNT and UNTIL/],
    ['FREQ=DAILY;UNTIL=20270231T000000Z', /UNTIL must be a time/],
    ['FREQ=DAILY;UNTIL=20270101T240000Z', /UNTIL must be a time/],
    ['FREQ=DAILY;BYHOUR=24', /BYHOUR.*from 0 to 23/],
    ['FREQ=DAILY;BYMINUTE=60', /BYMINUTE/],
    ['FREQ=DAILY;BYSECOND=60', /BYSECOND/],
    ['FREQ=DAILY;BYMONTH=13', /BYMONTH/],
    ['FREQ=DAILY;BYMONTH=-1', /BYMONTH/],
    ['FREQ=MONTHLY;BYMONTHDAY=0', /BYMONTHDAY must not contain 0/],
    ['FREQ=MONTHLY;BYMONTHDAY=32', /BYMONTHDAY/],
    ['FREQ=YEARLY;BYYEARDAY=-367', /BYYEARDAY/],
    ['FREQ=YEARLY;BYWEEKNO=54', /BYWEEKNO/],
    ['FREQ=WEEKLY;BYDAY=1MO', /BYDAY.*numbered days/],
    ['FREQ=MONTHLY;BYDAY=0MO', /BYDAY/],
    ['FREQ=MONTHLY;BYDAY=MONDAY', /BYDAY/],
    ['FREQ=WEEKLY;WKST=XX', /WKST/],
    ['FREQ=MONTHLY;BYSETPOS=1', /BYSETPOS must stand beside/],
    ['FREQ=DAILY;X-NAME=1', /NAME=VALUE/],
    ['FREQ=DA\u0131LY', /FREQ must be one of/],
    ['FREQ=DAILY;COUNT=\u0663', /COUNT must be an integer/],
    ['FREQ=DAILY;RSCALE=HEBREW', /"RSCALE" is not a part/],
    ['DTSTART;TZID=Europe/Berlin:20261201T090000\nRRULE:FREQ=DAILY', /UTC/],
    ['DTSTART:18991231T000000Z\nRRULE:FREQ=DAILY', /1900/],
    ['DTSTART:20261201T090000Z', /one RRULE/],
    ['DTSTART:20261201T090000Z\nRRULE:FREQ=DAILY\nEXDATE:20261202T090000Z', /one RRULE/],
    ['RRULE:FREQ=DAILY\nRRULE:FREQ=WEEKLY', /one RRULE/],
    [`FREQ=DAILY;BYHOUR=${'1,'.repeat(1_000)}1`, /2000 characters/],
  ])('%s is invalid', (text, message) => {
    expect(parseRecurrence(text, now)).toEqual({ rule: null, problem: expect.stringMatching(message) });
  });
});

describe('hostile rules', () => {
  const all = (count: number) => [...Array(count).keys()].join(',');
  const rules = [
    'FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30',
    'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30',
    'FREQ=SECONDLY;INTERVAL=2;BYSECOND=1',
    'FREQ=HOURLY;INTERVAL=24;BYHOUR=3',
    'FREQ=MINUTELY;INTERVAL=1440;BYHOUR=3',
    'FREQ=MINUTELY;INTERVAL=100000;COUNT=1000',
    'FREQ=SECONDLY;INTERVAL=100000;BYHOUR=3;COUNT=1000',
    'FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29;BYDAY=SU',
    'FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=SU',
    'FREQ=DAILY;BYSETPOS=3;BYHOUR=1',
    'FREQ=YEARLY;INTERVAL=100000',
    `FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYHOUR=${all(24)};BYMINUTE=${all(60)};BYSECOND=${all(60)};BYSETPOS=-1`,
  ];
  const starts = ['19000101T000000Z', '20261121T000001Z', '99991231T235959Z'];
  const together = rules.flatMap((rule) => starts.map((start) => [rule, start] as const));

  // Each takes well under a second: the test shows that none runs forever.
  test.each(together)(
    '%s from %s: the check terminates',
    (rule, start) => {
      const problem = recurrenceProblem(ruleOf(`DTSTART:${start}\nRRULE:${rule}`), now);
      if (problem !== null) expect(problem).toMatch(/^The rule (?:never fires|fires more often|names too many)/);
    },
    5_000,
  );
});

describe('rules with unbounded work in the evaluator', () => {
  const all = (count: number) => [...Array(count).keys()].join(',');

  test.each([
    [`FREQ=DAILY;BYHOUR=${all(24)};BYMINUTE=${all(60)};BYSECOND=${all(60)};BYSETPOS=1`, /make 86400, .* is 96/],
    [`FREQ=YEARLY;BYHOUR=${all(24)};BYMINUTE=0,12,24,36,48`, /make 120/],
    ['FREQ=DAILY;COUNT=1000;BYHOUR=0,3,6,9,12,15,18,21;BYSETPOS=9,-100', /BYSETPOS is greater than the 8 times/],
    ['FREQ=WEEKLY;BYDAY=MO,TU;BYHOUR=1,2;BYSETPOS=5', /greater than the 4 times/],
    ['FREQ=HOURLY;BYHOUR=1,2;BYMINUTE=0,30;BYSETPOS=-3', /greater than the 2 times/],
  ])('%s is refused without evaluation', (text, message) => {
    expect(recurrenceProblem(ruleOf(text), now)).toMatch(message);
  });

  test.each([
    `FREQ=DAILY;BYHOUR=${all(24)};BYMINUTE=0,15,30,45`,
    'FREQ=DAILY;BYHOUR=0,3,6,9;BYSETPOS=4,-100',
    'FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1',
  ])('%s is accepted', (text) => {
    expect(recurrenceProblem(ruleOf(text), now)).toBeNull();
  });
});

test('an expensive check reads only the first few occurrences', () => {
  // The first two occurrences that are too close are the 24th and the 25th: midnight between the 31st and the 1st.
  const rule = ruleOf('FREQ=MONTHLY;BYMONTHDAY=1,8,15,22,31;BYHOUR=0,23;BYMINUTE=0,50;BYSECOND=0');
  let passed = 0;
  let step = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (passed += step));
  try {
    expect(recurrenceProblem(rule, now)).toMatch(/2026-12-31T23:50:00.000Z and at 2027-01-01T00:00:00.000Z/);
    step = 101;
    expect(recurrenceProblem(rule, now)).toBeNull();
  } finally {
    clock.mockRestore();
  }
});

describe('rules that an automation may not have', () => {
  test.each([
    ['FREQ=DAILY;COUNT=0', /never fires: COUNT is 0/],
    ['DTSTART:20200101T000000Z\nRRULE:FREQ=DAILY;COUNT=1', /never fires/],
    ['DTSTART:20300101T000000Z\nRRULE:FREQ=DAILY;UNTIL=20290101T000000Z', /never fires/],
    ['FREQ=MINUTELY;INTERVAL=14', /15 minutes.*2026-11-21T00:14:00.000Z and at 2026-11-21T00:28:00.000Z/],
    ['FREQ=HOURLY;BYMINUTE=0,50', /15 minutes/],
    ['FREQ=YEARLY;BYHOUR=9;BYMINUTE=0,14', /15 minutes/],
    ['FREQ=DAILY;BYHOUR=0,23;BYMINUTE=0,50', /15 minutes/],
  ])('%s', (text, message) => {
    expect(recurrenceProblem(ruleOf(text), now)).toMatch(message);
  });

  test.each([
    'FREQ=MINUTELY;INTERVAL=15',
    'FREQ=HOURLY;BYMINUTE=0,15,30,45',
    'FREQ=DAILY;COUNT=1',
    'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29',
  ])('%s is allowed', (text) => {
    // The first occurrence of a one-time rule is that time itself, which must be in the future.
    expect(recurrenceProblem(ruleOf(text), new Date(now.getTime() - 1_000))).toBeNull();
  });
});
