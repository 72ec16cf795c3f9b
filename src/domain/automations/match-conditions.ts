import type { Operator } from './conditions.ts';
import type { Trigger } from './definition.ts';
import { findGlobs, findPattern, mostMatched } from './patterns.ts';

/** How many items of a list conditions look at: what is further back is as if it were not there. */
export const mostItems = 1_000;

/** What has happened, as conditions see it: JSON. */
export type EventJson = Readonly<Record<string, unknown>>;

type Conditions = Trigger['conditions'];

/** Whether an event is one that a trigger wants: all conditions of any of its groups hold; null: every event. Never throws. */
export function matchesConditions(conditions: Conditions, event: EventJson): boolean {
  if (conditions === null) return true;
  return conditions.any.some(({ all }) =>
    all.every(({ field, operator, value }) => tests[operator](valueAt(event, field), value)),
  );
}

/**
 * The value that a field's name leads to: names and numbers of list items, parted by dots. A name that itself has dots is found
 * where it is the rest of the field. Undefined where there is nothing; what every object has by nature is nothing, but lists
 * have a `length`. Of a list, its first {@link mostItems}.
 */
export function valueAt(json: unknown, field: string): unknown {
  const found = findValue(json, field);
  return Array.isArray(found) && found.length > mostItems ? found.slice(0, mostItems) : found;
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

/** Says whether what an event has holds against what a condition compares with. */
type Test = (found: unknown, wanted: unknown) => boolean;

// A number, true and false are text as JSON writes them.
const textOf = (found: unknown): string | null => {
  if (typeof found === 'string') return found;
  return typeof found === 'number' || typeof found === 'boolean' ? String(found) : null;
};

/** Of a list, one item for which it holds is enough. */
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

// In a list it is an item that is meant, not a part of one.
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

/** {@link mostMatched} characters in all, however many items they are in. */
function someText(found: unknown, test: (text: string) => boolean): boolean {
  let left = mostMatched;
  for (const each of Array.isArray(found) ? found : [found]) {
    const text = textOf(each);
    if (text === null) continue;
    if (test(text.slice(0, left))) return true;
    left -= text.length;
    if (left <= 0) return false;
  }
  return false;
}

const matches: Test = (found, wanted) => {
  const pattern = typeof wanted === 'string' ? findPattern(wanted) : null;
  return pattern !== null && someText(found, (text) => pattern.test(text));
};

const globs: Test = (found, wanted) => {
  const pattern = Array.isArray(wanted) ? findGlobs(wanted.map(String)) : null;
  return pattern !== null && someText(found, (text) => pattern.testExact(text));
};

// 0 and false are values.
const isEmpty: Test = (found) => {
  if (found === undefined || found === null || found === '') return true;
  if (Array.isArray(found)) return found.length === 0;
  if (typeof found !== 'object') return false;
  for (const name in found) if (Object.hasOwn(found, name)) return false;
  return true;
};

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
  'matches': matches,
  'not_matches': not(matches),
  'globs': globs,
  'not_globs': not(globs),
  'is_empty': isEmpty,
  'is_not_empty': not(isEmpty),
  // A time is not a field of anything that happens.
  'recurrence': () => false,
} as const satisfies Record<Operator, Test>;
