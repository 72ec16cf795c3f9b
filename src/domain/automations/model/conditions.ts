import { z } from 'zod';
import { text } from '../../input.ts';
import type { Pattern } from '../../patterns.ts';
import type { EventField } from './event-field.ts';
import { findEventType, recurringEvent } from './event-types.ts';
import { maxInstructions, sizeOfGlobs, sizeOfPattern } from './pattern-sizes.ts';

/** The kind of value that each operator compares with (docs/automations.md#conditions). */
const operators = {
  'eq': 'plain',
  'neq': 'plain',
  'contains': 'text',
  'not_contains': 'text',
  'starts_with': 'text',
  'not_starts_with': 'text',
  'ends_with': 'text',
  'not_ends_with': 'text',
  'gt': 'number',
  'lt': 'number',
  'gte': 'number',
  'lte': 'number',
  'between': 'range',
  'in': 'texts',
  'not_in': 'texts',
  'matches': 'pattern',
  'not_matches': 'pattern',
  'globs': 'globs',
  'not_globs': 'globs',
  'is_empty': 'nothing',
  'is_not_empty': 'nothing',
  'recurrence': 'text',
} as const;

type Operand = (typeof operators)[keyof typeof operators];

/** An operator's name. */
export type Operator = keyof typeof operators;

/** The names of all operators. */
export const operatorNames = Object.keys(operators) as Operator[];

const string = text('value', { max: 10_000 });

const operands = {
  plain: { schema: z.union([string, z.number(), z.boolean()]), is: 'a text, a number, true or false' },
  text: { schema: string, is: 'a text' },
  number: { schema: z.number(), is: 'a number' },
  range: {
    schema: z.tuple([z.number(), z.number()]).refine(([low, high]) => low <= high),
    is: 'two numbers, the lower one first',
  },
  texts: { schema: z.array(string).min(1).max(200), is: 'a list of 1 to 200 texts' },
  pattern: {
    schema: text('value', { min: 1, max: 1_000 }),
    is: 'a regular expression of RE2 (without look-around and back-references) of at most 1000 characters',
  },
  globs: {
    schema: z
      .array(text('value', { min: 1, max: 1_000 }))
      .min(1)
      .max(200),
    is: 'a list of 1 to 200 globs of at most 1000 characters',
  },
  nothing: { schema: z.null(), is: 'null or left out' },
} as const satisfies Record<Operand, { schema: z.ZodType; is: string }>;

/** Describes the value that an operator needs. */
export const operandOf = (operator: Operator): string => operands[operators[operator]].is;

const ofAll: readonly Operator[] = ['eq', 'neq', 'in', 'not_in', 'is_empty', 'is_not_empty'];
const ofTexts: readonly Operator[] = operatorNames.filter((name) =>
  ['plain', 'text', 'texts', 'pattern', 'globs', 'nothing'].includes(operators[name]),
);
const ofNumbers: readonly Operator[] = operatorNames.filter((name) => ['number', 'range'].includes(operators[name]));

/** The operators that can hold for a field of a type. Others are accepted, and treat the field as missing. */
export const operatorsOfType: Readonly<Record<EventField['type'], readonly Operator[]>> = {
  string: ofTexts.filter((name) => name !== 'recurrence'),
  number: operatorNames.filter((name) => ofAll.includes(name) || ofNumbers.includes(name)),
  boolean: ofAll,
  list: operatorNames.filter((name) => name !== 'recurrence'),
  json: operatorNames.filter((name) => name !== 'recurrence'),
  recurrence: ['recurrence'],
};

/** One condition of a trigger in inputs. */
export const conditionSchema = z
  .strictObject({
    field: text('field', { min: 1, max: 500 }),
    operator: z.enum(operatorNames as [Operator, ...Operator[]], {
      error: `"operator" must be one of ${operatorNames.join(', ')}.`,
    }),
    value: z
      .unknown()
      .optional()
      .transform((value) => value ?? null),
  })
  .superRefine(({ operator, value }, check) => {
    const { schema, is } = operands[operators[operator]];
    if (schema.safeParse(value).success) return;
    check.addIssue({ code: 'custom', path: ['value'], message: operandProblem(operator, is) });
  });

/** Groups of conditions: all conditions of a group must hold, and any group suffices. */
export const conditionsSchema = z.strictObject({
  any: z
    .array(
      z.strictObject({
        all: z
          .array(conditionSchema)
          .min(1, '"all" must have at least one item.')
          .max(50, '"all" must have at most 50 items.'),
      }),
    )
    .min(1, '"any" must have at least one item.')
    .max(50, '"any" must have at most 50 items.'),
});

type Conditions = z.output<typeof conditionsSchema>;

/**
 * Maximum number of conditions of one automation. With {@link maxItems} and the maximum size of a webhook's body, it
 * bounds the cost of one event.
 */
const maxConditions = 500;

/**
 * Returns the problems of the conditions of all triggers of an automation, each with the path from the trigger's own.
 * Patterns are not compiled: see `requirePatterns`.
 */
export function conditionProblems(
  triggers: readonly (Conditions | null)[],
): { readonly path: (string | number)[]; readonly message: string }[] {
  const all = triggers.flatMap((conditions, trigger) =>
    (conditions?.any ?? []).flatMap((group, n) =>
      group.all.map((each, m) => ({ ...each, path: [trigger, 'conditions', 'any', n, 'all', m, 'value'] })),
    ),
  );
  if (all.length > maxConditions) {
    return [{ path: [], message: `"triggers" must have at most ${maxConditions} conditions, but has ${all.length}.` }];
  }
  // Checked before any pattern is compiled, which takes time in proportion to its size.
  if (all.reduce((sum, { operator, value }) => sum + sizeOf(operators[operator], value), 0) > maxInstructions) {
    const message =
      'The regular expressions and globs of "triggers" are too large in total. Use fewer or shorter ones.';
    return [{ path: [], message }];
  }
  return [];
}

/** Returns the pattern of a condition; null: its operator takes none. */
export function patternOf({
  operator,
  value,
}: {
  readonly operator: Operator;
  readonly value: unknown;
}): Pattern | null {
  const operand = operators[operator];
  if (operand === 'pattern') return { kind: 'regex', source: String(value) };
  return operand === 'globs' && Array.isArray(value) ? { kind: 'globs', globs: value.map(String) } : null;
}

/**
 * Returns the problems of the fields in conditions. Only known fields of an event are checked, and no fields inside of
 * received JSON. Events of forges have more fields than the known ones.
 */
export function fieldProblems(
  eventType: string,
  conditions: Conditions | null,
): { readonly path: (string | number)[]; readonly message: string }[] {
  const { fields = {}, isOpen = false } = findEventType(eventType) ?? {};
  const names = Object.keys(fields);
  // A recurrence is checked elsewhere, and the fields of external events are unknown.
  if (names.length === 0 || eventType === recurringEvent) return [];
  return (conditions?.any ?? []).flatMap(({ all }, n) =>
    all.flatMap(({ field, operator }, m) => {
      const path = ['conditions', 'any', n, 'all', m];
      const name = Object.hasOwn(fields, field) ? field : (field.split('.', 1)[0] ?? '');
      const knownField = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (!knownField) {
        if (isOpen) return [];
        const message = `"field" must begin with one of ${names.join(', ')} for ${eventType}, but was ${JSON.stringify(field.slice(0, 80))}.`;
        return [{ path: [...path, 'field'], message }];
      }
      if (operator === 'recurrence' || operatorsOfType[knownField.type].includes(operator)) return [];
      const message = `"operator" for ${name}, which is a ${knownField.type}, must be one of ${operatorsOfType[knownField.type].join(', ')}, but was ${operator}.`;
      return [{ path: [...path, 'operator'], message }];
    }),
  );
}

function sizeOf(operand: Operand, value: unknown): number {
  if (operand === 'pattern') return sizeOfPattern(value as string);
  return operand === 'globs' ? sizeOfGlobs(value as string[]) : 0;
}

/** Creates the message for an invalid value of an operator; `is` describes a valid value. */
export function operandProblem(operator: Operator, is: string = operandOf(operator)): string {
  return `"value" of the operator ${operator} must be ${is}.`;
}
