import { afterAll, describe, expect, it } from 'vitest';
import type { DomainError } from '../../../src/common/errors.ts';
import {
  conditionProblems,
  conditionsSchema,
  type Operator,
  operatorNames,
} from '../../../src/domain/automations/model/conditions.ts';
import { createPatterns } from '../../../src/domain/automations/triggers/create-patterns.ts';
import { type EventJson, valueAt } from '../../../src/domain/automations/triggers/match-conditions.ts';
import { withEventMatcher } from '../../../src/domain/automations/triggers/match-events.ts';
import { requirePatterns } from '../../../src/domain/automations/triggers/require-patterns.ts';
import type { Services } from '../../../src/domain/context.ts';
import { minCpuTime } from '../../support/cpu-time.ts';

const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const patterns = createPatterns({ log, now: () => new Date(), limitMs: 60_000 });
afterAll(() => patterns.stop());
const services = { patterns } as Services;

type Conditions = ReturnType<typeof conditionsSchema.parse>;

async function matchesConditions(conditions: Conditions | null, event: EventJson) {
  const candidate = { organizationId: 'o', automationId: 'a', eventId: 'e', conditions: [conditions], event };
  const [result] = await withEventMatcher(services, async (matcher) => matcher.match([candidate]));
  return result;
}

const event: EventJson = {
  text: 'feature/login-page',
  empty: '',
  number: 42,
  zero: 0,
  yes: true,
  no: false,
  nothing: null,
  list: ['bug', 'urgent'],
  numbers: [1, 5],
  none: [],
  object: { inner: { deep: 'x' }, 'a.b': 'dotted' },
  hollow: {},
  items: [{ name: 'first' }, { name: 'second' }],
};

/** For each operator: a field, the operand, and the expected result. */
const cases: Readonly<Record<Operator, readonly (readonly [string, unknown, boolean])[]>> = {
  'eq': [
    ['text', 'feature/login-page', true],
    ['text', 'feature', false],
    ['number', 42, true],
    ['number', '42', false],
    ['yes', true, true],
    ['yes', 'true', false],
    ['no', false, true],
    ['zero', false, false],
    ['list', 'bug', true],
    ['nothing', '', false],
    ['missing', '', false],
    ['object', 'x', false],
  ],
  'neq': [
    ['text', 'other', true],
    ['text', 'feature/login-page', false],
    ['number', 41, true],
    ['list', 'bug', false],
    ['missing', 'x', true],
  ],
  'contains': [
    ['text', 'login', true],
    ['text', 'LOGIN', false],
    ['number', '4', true],
    ['list', 'bug', true],
    ['list', 'bu', false],
    ['numbers', '5', true],
    ['object', 'inner', false],
    ['missing', 'x', false],
  ],
  'not_contains': [
    ['text', 'login', false],
    ['list', 'bu', true],
    ['missing', 'x', true],
  ],
  'starts_with': [
    ['text', 'feature/', true],
    ['text', 'login', false],
    ['list', 'urg', true],
    ['yes', 'tr', true],
  ],
  'not_starts_with': [
    ['text', 'feature/', false],
    ['nothing', 'n', true],
  ],
  'ends_with': [
    ['text', 'page', true],
    ['text', 'pag', false],
  ],
  'not_ends_with': [
    ['text', 'page', false],
    ['missing', 'page', true],
  ],
  'gt': [
    ['number', 41, true],
    ['number', 42, false],
    ['text', 1, false],
    ['numbers', 4, true],
    ['yes', 0, false],
    ['missing', -1, false],
  ],
  'lt': [
    ['number', 43, true],
    ['number', 42, false],
    ['nothing', 1, false],
  ],
  'gte': [
    ['number', 42, true],
    ['number', 43, false],
  ],
  'lte': [
    ['number', 42, true],
    ['number', 41, false],
  ],
  'between': [
    ['number', [42, 50], true],
    ['number', [1, 42], true],
    ['number', [43, 50], false],
    ['text', [1, 2], false],
    ['numbers', [4, 6], true],
  ],
  'in': [
    ['text', ['a', 'feature/login-page'], true],
    ['text', ['a'], false],
    ['number', ['42'], true],
    ['yes', ['true'], true],
    ['list', ['urgent'], true],
    ['missing', ['a'], false],
  ],
  'not_in': [
    ['text', ['a'], true],
    ['list', ['urgent'], false],
    ['missing', ['a'], true],
  ],
  'matches': [
    ['text', 'log[io]n', true],
    ['text', '^login', false],
    ['text', '(?i)LOGIN', true],
    ['number', '^\\d+$', true],
    ['list', '^urg', true],
    ['object', '.*', false],
    ['missing', '.*', false],
  ],
  'not_matches': [
    ['text', 'log[io]n', false],
    ['missing', '.*', true],
  ],
  'globs': [
    ['text', ['main', 'feature/*'], true],
    ['text', ['*'], false],
    ['text', ['**'], true],
    ['text', ['**/login-page'], true],
    ['text', ['feature/login-pag?'], true],
    ['text', ['feature?login-page'], false],
    ['text', ['f[a-z]*/*'], false],
    ['list', ['ur*'], true],
    ['missing', ['**'], false],
  ],
  'not_globs': [
    ['text', ['feature/*'], false],
    ['text', ['main'], true],
    ['missing', ['**'], true],
  ],
  'is_empty': [
    ['empty', null, true],
    ['nothing', null, true],
    ['missing', null, true],
    ['none', null, true],
    ['hollow', null, true],
    ['zero', null, false],
    ['no', null, false],
    ['text', null, false],
    ['list', null, false],
  ],
  'is_not_empty': [
    ['empty', null, false],
    ['missing', null, false],
    ['zero', null, true],
    ['object', null, true],
  ],
  'recurrence': [['text', 'FREQ=DAILY', false]],
};

const holds = (field: string, operator: Operator, value: unknown) =>
  matchesConditions(conditionsSchema.parse({ any: [{ all: [{ field, operator, value }] }] }), event);

describe.each(operatorNames)('the operator %s', (operator) => {
  it.each(cases[operator])('of %s with %j: %s', async (field, value, expected) => {
    expect(await holds(field, operator, value)).toBe(expected);
  });
});

it('every operator is the opposite of its negated one for any field', async () => {
  const pairs = operatorNames.flatMap((name) => {
    const negated = name === 'eq' ? 'neq' : name === 'is_empty' ? 'is_not_empty' : (`not_${name}` as Operator);
    return operatorNames.includes(negated) ? [[name, negated] as const] : [];
  });
  expect(pairs).toHaveLength(8);
  for (const [name, negated] of pairs) {
    for (const [field, value] of [...cases[name], ...cases[negated]]) {
      expect([field, negated, await holds(field, negated, value)]).toEqual([
        field,
        negated,
        !(await holds(field, name, value)),
      ]);
    }
  }
});

async function problemsOf(raw: unknown): Promise<readonly { readonly message: string }[]> {
  const { success, data, error } = conditionsSchema.safeParse(raw);
  if (!success) return error.issues;
  const problems = conditionProblems([data]);
  if (problems.length > 0) return problems;
  const trigger = { eventType: 'webhook:incoming', conditions: data, replies: [] };
  return requirePatterns(services, 'o', [trigger]).then(
    () => [],
    (refusal: unknown) => (refusal as DomainError).issues,
  );
}

describe('a field', () => {
  it.each([
    ['object.inner.deep', 'x'],
    ['object.a.b', 'dotted'],
    ['items.1.name', 'second'],
    ['items.2.name', undefined],
    ['items.length', 2],
    ['text.length', undefined],
    ['__proto__', undefined],
    ['constructor.name', undefined],
    ['object.', undefined],
    ['', undefined],
  ])('%s is %j', (field, value) => {
    expect(valueAt(event, field)).toEqual(value);
  });
});

describe('conditions', () => {
  const all = (...conditions: [string, Operator, unknown][]) => ({
    all: conditions.map(([field, operator, value]) => ({ field, operator, value })),
  });
  const hold = (...any: ReturnType<typeof all>[]) => matchesConditions(conditionsSchema.parse({ any }), event);

  it('match if all of any group do; no conditions match every event', async () => {
    expect(await hold(all(['number', 'gt', 1], ['text', 'eq', 'no']), all(['yes', 'eq', true]))).toBe(true);
    expect(await hold(all(['number', 'gt', 1], ['text', 'eq', 'no']), all(['yes', 'eq', false]))).toBe(false);
    expect(await matchesConditions(null, event)).toBe(true);
  });

  it.each([
    ['matches', '(?=look)'],
    ['matches', '(a)\\1'],
    ['matches', '['],
    ['matches', '(a?){1000}'],
    ['matches', `(${'x'.repeat(900)}){1000}`],
    ['matches', '((((a{9}){9}){9}){2}|[]x]{9}\\pL{9}){2}'],
    ['globs', Array.from({ length: 6 }, () => 'x'.repeat(1_000))],
    ['like', 'x'],
  ])('are refused with %s of %j', async (operator, value) => {
    expect(await problemsOf({ any: [{ all: [{ field: 'text', operator, value }] }] })).toHaveLength(1);
  });

  it('are refused without being compiled if they are many and large', async () => {
    const large = Array.from({ length: 10 }, (_, n): [string, Operator, string] => [
      'text',
      'matches',
      `(a?${n}){900}`,
    ]);
    const any = Array.from({ length: 50 }, () => all(...large));
    const check = async () =>
      expect(await problemsOf({ any })).toMatchObject([{ message: expect.stringContaining('too large in total') }]);
    expect(await minCpuTime(check)).toBeLessThan(2_000);
  });

  it.each([
    '^(feat|fix|docs)(\\(.+\\))?: .{1,72}$',
    '[a-f0-9]{40}',
    '\\d{1,1000}',
    '(?i)\\bbug\\b',
    '\\p{Lu}{2,5}-\\d+',
    '[]a]{3}',
    '(?i)[一-龥]{3} [А-я]+ [a-z0-9]',
  ])('accept %s', async (value) => {
    const conditions = { any: [all(['text', 'matches', value])] };
    expect(await problemsOf(conditions)).toEqual([]);
  });

  it('have a limit per automation: Unicode classes count their cost, and triggers count together', async () => {
    const classes = (n: number) =>
      conditionsSchema.parse({ any: [all(['text', 'matches', `${'[\\p{L}\\p{N}]'.repeat(n)}`])] });
    expect(await problemsOf(classes(40))).toEqual([]);
    expect(await problemsOf(classes(60))).toHaveLength(1);
    expect(conditionProblems(Array(2).fill(classes(40)))).toHaveLength(1);
    const many = (n: number) => conditionsSchema.parse({ any: [all(...Array(50).fill(['text', 'eq', n]))] });
    expect(conditionProblems(Array.from({ length: 10 }, (_, n) => many(n)))).toEqual([]);
    expect(conditionProblems(Array.from({ length: 11 }, (_, n) => many(n)))).toMatchObject([
      { message: '"triggers" must have at most 500 conditions, but has 550.' },
    ]);
  });

  it.each([
    '[B-\u{1e942}]',
    '[\\x42-\\x{1e942}]',
    '[\\102-\u{1e942}]',
    '[\\B-\u{1e942}]',
    '[^B-\u{1e942}]',
    '[[:digit:]B-\u{1e942}]',
    '[]B-\u{1e942}]',
  ])('are refused before compilation if letters of any case match many ranges: %s', (part) => {
    const conditions = (flag: string) =>
      conditionsSchema.parse({ any: [all(['text', 'matches', `${flag}${part.repeat(20)}`])] });
    for (const flag of ['(?i)', '(?si)', '(?i:x)', '(?i-s)']) {
      expect(conditionProblems([conditions(flag)])).toMatchObject([{ message: expect.stringContaining('too large') }]);
    }
    expect(conditionProblems([conditions('')])).toEqual([]);
  });

  it('check the first 1,000 items of a list, and are fast for many', async () => {
    const list = [...Array(999).fill(1), 'near', 'far', ...Array(31_000).fill(1)];
    const holds = (operator: Operator, value: string | number | null, field = 'list') =>
      matchesConditions({ any: [{ all: [{ field, operator, value }] }] }, { list });
    expect([await holds('contains', 'near'), await holds('contains', 'far')]).toEqual([true, false]);
    expect([await holds('is_empty', null), await holds('eq', 32_001, 'list.length')]).toEqual([false, true]);
    const values = Array.from({ length: 200 }, (_, n) => `x${n}`);
    const expensive = Array.from({ length: 500 }, () => ({
      field: 'list',
      operator: 'not_in' as const,
      value: values,
    }));
    const match = async () => expect(await matchesConditions({ any: [{ all: expensive }] }, { list })).toBe(true);
    expect(await minCpuTime(match)).toBeLessThan(2_000);
  });

  it('check the first 10,000 characters against a pattern, and are fast for a hostile one', async () => {
    const hostile = { long: `${'a'.repeat(60_000)}!`, list: Array.from({ length: 60_000 }, () => 'a') };
    const match = async () => {
      for (const field of ['long', 'list']) {
        const conditions = conditionsSchema.parse({ any: [all([field, 'matches', '^(a+)+!$'])] });
        expect(await matchesConditions(conditions, hostile)).toBe(false);
      }
    };
    expect(await minCpuTime(match)).toBeLessThan(2_000);
    const first = conditionsSchema.parse({ any: [all(['long', 'matches', '^a{1000}'])] });
    expect(await matchesConditions(first, hostile)).toBe(true);
  });
});
