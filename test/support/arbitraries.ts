import fc from 'fast-check';

/** A JSON schema, with the keywords that our documents use. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly oneOf?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly additionalProperties?: unknown;
}

/** The path to a value in a body: names and indexes. */
export type Path = readonly string[];

/** Stands for a value whose member is omitted. */
export const absent: unique symbol = Symbol('absent');

/** Nests a value in `depth` arrays. */
export function nested(depth: number): unknown {
  let value: unknown = 'x';
  for (let n = 0; n < depth; n++) value = [value];
  return value;
}

// An assignment to "__proto__" would set the prototype; in JSON it is an ordinary member.
const poisoned: readonly unknown[] = [
  JSON.parse('{"__proto__":{"isAdmin":true}}'),
  JSON.parse('{"constructor":{"prototype":{"isAdmin":true}}}'),
  { toString: 1, hasOwnProperty: null },
];

/** Texts that programs often handle wrongly. */
export const roughTexts: readonly string[] = [
  '',
  ' ',
  '\t\r\n',
  '\u0000',
  'a\u0000b',
  '\ud800',
  'a\udfffb',
  '\u0001\u001b[31m\u007f',
  '\u202eevil\u2066',
  '\ufeff',
  'x'.repeat(10_000),
  '😀'.repeat(300),
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  "' or 1=1 --",
  '$1',
  '%',
  '%00',
  '\\',
  '../../etc/passwd',
  'null',
  'undefined',
  'NaN',
  'true',
  '1e999',
  '-1',
  '9'.repeat(400),
  '{}',
  '[]',
  '!',
  '!macro',
  'a,b,,c',
  '2026-02-30',
  '0000-00-00T00:00:00Z',
  '+275760-09-13T00:00:00.001Z',
  'ftp://example.com',
  'http://[',
  '@',
  '0 0 31 2 *',
  'org_member',
  'all',
];

const roughNumbers: readonly number[] = [
  0,
  -0,
  1,
  -1,
  1.5,
  101,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 53,
  -(2 ** 53),
  1e21,
  1e308,
  5e-324,
  // Sent as 1e999: JSON has no other way to write it.
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
];

const roughContainers: readonly unknown[] = [
  [],
  {},
  [null],
  [[]],
  [{}],
  { length: 1, 0: 'x' },
  { $ref: '#' },
  Array.from({ length: 1_000 }, (_, n) => `item ${n}`),
  Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`key${n}`, n])),
  nested(20),
  nested(120),
  ...poisoned,
];

/** Generates any text, mostly texts that programs often handle wrongly. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...roughTexts) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 40 }) },
);

/** Generates any JSON value, mostly values that programs often handle wrongly. */
export const anyValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: anyText },
  { weight: 3, arbitrary: fc.constantFrom<unknown>(...roughNumbers) },
  { weight: 3, arbitrary: fc.constantFrom<unknown>(null, true, false) },
  { weight: 3, arbitrary: fc.constantFrom(...roughContainers) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);

/** Writes a value as JSON; an infinite number becomes a number that is too large to parse. */
export function toJson(value: unknown): string {
  const mark = '\u0001number\u0001';
  const text = JSON.stringify(value, (_key, each) =>
    each === Number.POSITIVE_INFINITY ? `${mark}1` : each === Number.NEGATIVE_INFINITY ? `${mark}-1` : each,
  );
  return text.replaceAll(/"\\u0001number\\u0001(-?1)"/g, '$1e999');
}

/** Generates values that a schema allows, including its bounds; parts without a schema are arbitrary. */
export function allowedBy(schema: JsonSchema): fc.Arbitrary<unknown> {
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices) return fc.oneof(...choices.map(allowedBy));
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const types = [schema.type ?? []].flat();
  if (types.length > 1) return fc.oneof(...types.map((type) => allowedBy({ ...schema, type })));
  const [type] = types;
  if (type === 'null') return fc.constant(null);
  if (type === 'boolean') return fc.boolean();
  if (type === 'string') return allowedText(schema);
  if (type === 'integer' || type === 'number') return allowedNumber(schema, type === 'integer');
  if (type === 'array') {
    const { minItems: minLength = 0, maxItems: maxLength = 60 } = schema;
    const item = allowedBy(schema.items ?? {});
    const full = fc.array(item, { minLength: Math.min(maxLength, 60), maxLength: Math.min(maxLength, 60) });
    return fc.oneof({ weight: 9, arbitrary: fc.array(item, { minLength, maxLength: minLength + 3 }) }, full);
  }
  if (type === 'object') return allowedObject(schema);
  return anyValue;
}

function allowedText({ minLength = 0, maxLength = 20_000 }: JsonSchema): fc.Arbitrary<string> {
  return anyText.filter(({ length }) => length >= minLength && length <= maxLength);
}

function allowedNumber({ minimum, maximum }: JsonSchema, isInteger: boolean): fc.Arbitrary<number> {
  const [min, max] = [minimum ?? -(2 ** 53), maximum ?? 2 ** 53];
  const bounds = fc.constantFrom(min, max);
  return fc.oneof(
    bounds,
    isInteger ? fc.maxSafeInteger().map((n) => Math.min(max, Math.max(min, n))) : fc.double({ min, max, noNaN: true }),
  );
}

function allowedObject({ properties = {}, required = [], additionalProperties }: JsonSchema): fc.Arbitrary<unknown> {
  const members = Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, allowedBy(inner)]));
  const known = fc.record(members, { requiredKeys: required.filter((name) => name in members) });
  if (typeof additionalProperties !== 'object' || additionalProperties === null) return known;
  const more = fc.dictionary(anyText, allowedBy(additionalProperties as JsonSchema), { maxKeys: 3 });
  return fc.tuple(known, more).map(([own, others]) => ({ ...others, ...own }));
}

/** Returns the path of every value with a schema: present and missing members, and everything inside them. */
export function pathsIn(schema: JsonSchema, value: unknown, at: Path = []): Path[] {
  if (Array.isArray(value)) {
    return value.flatMap((item, n) => [[...at, `${n}`], ...pathsIn(schema.items ?? {}, item, [...at, `${n}`])]);
  }
  if (value === null || typeof value !== 'object') return [];
  const choice = (schema.oneOf ?? schema.anyOf)?.find(({ properties = {} }) =>
    Object.keys(value).every((name) => name in properties),
  );
  const { properties = {} } = choice ?? schema;
  return Object.entries(properties).flatMap(([name, inner]) => {
    const path = [...at, name];
    return [path, ...pathsIn(inner, (value as Record<string, unknown>)[name], path)];
  });
}

/** Replaces the value at one path; {@link absent} removes it. */
export function changed(value: unknown, [first, ...rest]: Path, to: unknown): unknown {
  if (first === undefined) return to;
  const isGone = rest.length === 0 && to === absent;
  if (Array.isArray(value)) {
    const list = value.map((item, n) => (`${n}` === first && !isGone ? changed(item, rest, to) : item));
    return isGone ? list.filter((_item, n) => `${n}` !== first) : list;
  }
  const members = Object.entries((value ?? {}) as Record<string, unknown>).filter(([name]) => name !== first);
  if (isGone) return Object.fromEntries(members);
  return Object.fromEntries([
    ...members,
    [first, changed((value as Record<string, unknown> | null)?.[first], rest, to)],
  ]);
}
