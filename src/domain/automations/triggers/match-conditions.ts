import type { PatternTest } from '../../patterns.ts';
import { type Operator, patternOf } from '../model/conditions.ts';
import type { Trigger } from '../model/definition.ts';

/** Number of characters of a value that patterns see; the rest is ignored. */
const maxMatchedCharacters = 10_000;

/** Number of items of a list that conditions see; the rest is ignored. */
export const maxItems = 1_000;

/** An event as conditions see it: JSON. */
export type EventJson = Readonly<Record<string, unknown>>;

type Conditions = Trigger['conditions'];
type Condition = NonNullable<Conditions>['any'][number]['all'][number];

/** True if the pattern of a condition matches the event; null: the result is not known yet. */
export type PatternResults = (condition: Condition) => boolean | null;

const nothingKnown: PatternResults = () => null;

/**
 * Returns true if an event matches a trigger: all conditions of any of its groups hold; null conditions match every
 * event. Returns null if that depends on patterns whose results are not known. Never throws.
 */
export function matchesConditions(
  conditions: Conditions,
  event: EventJson,
  results: PatternResults = nothingKnown,
): boolean | null {
  if (conditions === null) return true;
  return someHold(conditions.any, ({ all }) => groupHolds(all, event, results));
}

/** {@link matchesConditions} for any of several triggers. */
export const matchesAny = (all: readonly Conditions[], event: EventJson, results?: PatternResults): boolean | null =>
  someHold(all, (conditions) => matchesConditions(conditions, event, results));

/** Returns the patterns that {@link matchesAny} depends on, with the texts of the event to run each of them on. */
export function patternTests(
  all: readonly Conditions[],
  event: EventJson,
): { readonly condition: Condition; readonly test: PatternTest }[] {
  const textsByField = new Map<string, readonly string[]>();
  const textsOf = (field: string) => {
    const texts = textsByField.get(field) ?? matchedTexts(valueAt(event, field));
    textsByField.set(field, texts);
    return texts;
  };
  return all
    .flatMap((conditions) => conditions?.any ?? [])
    .filter((group) => groupHolds(group.all, event, nothingKnown) === null)
    .flatMap((group) => group.all)
    .flatMap((condition) => {
      const pattern = patternOf(condition);
      return pattern === null ? [] : [{ condition, test: { pattern, texts: textsOf(condition.field) } }];
    });
}

// Three-valued: an unknown result matters only if no other decides.
function someHold<T>(items: readonly T[], holds: (item: T) => boolean | null): boolean | null {
  let result: boolean | null = false;
  for (const item of items) {
    const one = holds(item);
    if (one === true) return true;
    if (one === null) result = null;
  }
  return result;
}

function groupHolds(all: readonly Condition[], event: EventJson, results: PatternResults): boolean | null {
  const fails = someHold(all, (condition) => {
    const holds = conditionHolds(condition, event, results);
    return holds === null ? null : !holds;
  });
  return fails === null ? null : !fails;
}

function conditionHolds(condition: Condition, event: EventJson, results: PatternResults): boolean | null {
  const { field, operator, value } = condition;
  if (patternOf(condition) === null) return tests[operator as PlainOperator](valueAt(event, field), value);
  const isFound = results(condition);
  return isFound === null ? null : isFound !== operator.startsWith('not_');
}

/**
 * Returns the value of a field: names and list indexes, separated by dots. A name that itself contains dots is found if
 * it is the rest of the field. Returns undefined if there is no value; inherited properties do not count, but lists
 * have a `length`. Of a list, only the first {@link maxItems} are found.
 */
export function valueAt(json: unknown, field: string): unknown {
  const found = findValue(json, field);
  return Array.isArray(found) && found.length > maxItems ? found.slice(0, maxItems) : found;
}

function findValue(json: unknown, field: string): unknown {
  let value = json;
  let rest = field;
  for (;;) {
    if (value === null || typeof value !== 'object') return undefined;
    if (Object.hasOwn(value, rest)) return (value as Record<string, unknown>)[rest];
    const dot = rest.indexOf('.');
    const name = rest.slice(0, Math.max(dot, 0));
    if (dot < 0 || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
    rest = rest.slice(dot + 1);
  }
}

/** Compares the value of an event with the value of a condition. */
type Test = (found: unknown, wanted: unknown) => boolean;

// Numbers, true and false count as text, as JSON writes them.
const textOf = (found: unknown): string | null => {
  if (typeof found === 'string') return found;
  return typeof found === 'number' || typeof found === 'boolean' ? String(found) : null;
};

/** For a list, one matching item suffices. */
const ofAny =
  (test: Test): Test =>
  (found, wanted) =>
    Array.isArray(found) ? found.some((each) => test(each, wanted)) : test(found, wanted);

const ofText = (test: (found: string, wanted: string) => boolean): Test =>
  ofAny((found, wanted) => {
    const text = textOf(found);
    return text !== null && typeof wanted === 'string' && test(text, wanted);
  });

const ofNumber = (test: (found: number, wanted: number) => boolean): Test =>
  ofAny((found, wanted) => typeof found === 'number' && typeof wanted === 'number' && test(found, wanted));

const not =
  (test: Test): Test =>
  (found, wanted) =>
    !test(found, wanted);

// JSON has no other values that could be equal in more than one way.
const equals = ofAny((found, wanted) => found === wanted);

// In a list it matches an item, not a part of one.
const contains: Test = (found, wanted) =>
  Array.isArray(found)
    ? found.some((each) => each === wanted || textOf(each) === wanted)
    : ofText((text, part) => text.includes(part))(found, wanted);

const startsWith = ofText((text, start) => text.startsWith(start));
const endsWith = ofText((text, end) => text.endsWith(end));

const isIn: Test = (found, wanted) => {
  if (!Array.isArray(wanted)) return false;
  const texts = new Set<unknown>(wanted);
  return ofAny((each) => texts.has(textOf(each) ?? undefined))(found, wanted);
};

/** Returns the texts of a value or of a list's items: at most {@link maxMatchedCharacters} in all. */
function matchedTexts(found: unknown): string[] {
  const texts: string[] = [];
  let left = maxMatchedCharacters;
  for (const each of Array.isArray(found) ? found : [found]) {
    const text = textOf(each);
    if (text === null) continue;
    texts.push(text.slice(0, left));
    left -= text.length;
    if (left <= 0) break;
  }
  return texts;
}

// 0 and false count as values.
const isEmpty: Test = (found) => {
  if (found === undefined || found === null || found === '') return true;
  if (Array.isArray(found)) return found.length === 0;
  if (typeof found !== 'object') return false;
  for (const name in found) if (Object.hasOwn(found, name)) return false;
  return true;
};

/** The operators without patterns. */
type PlainOperator = Exclude<Operator, 'matches' | 'not_matches' | 'globs' | 'not_globs'>;

const tests = {
  'eq': equals,
  'neq': not(equals),
  'contains': contains,
  'not_contains': not(contains),
  'starts_with': startsWith,
  'not_starts_with': not(startsWith),
  'ends_with': endsWith,
  'not_ends_with': not(endsWith),
  'gt': ofNumber((found, wanted) => found > wanted),
  'lt': ofNumber((found, wanted) => found < wanted),
  'gte': ofNumber((found, wanted) => found >= wanted),
  'lte': ofNumber((found, wanted) => found <= wanted),
  'between': ofAny((found, wanted) => {
    if (typeof found !== 'number' || !Array.isArray(wanted)) return false;
    const [low, high] = wanted as number[];
    return low !== undefined && high !== undefined && low <= found && found <= high;
  }),
  'in': isIn,
  'not_in': not(isIn),
  'is_empty': isEmpty,
  'is_not_empty': not(isEmpty),
  // No event has a time field.
  'recurrence': () => false,
} as const satisfies Record<PlainOperator, Test>;
