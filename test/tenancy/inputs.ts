import {
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLInputType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import { globalId, type IdKind, prefixedId } from '../../src/domain/ids.ts';
import type { Choice, Fill, Slot } from './operation.ts';
import { kindsOf } from './slots.ts';

type Input = GraphQLArgument | GraphQLInputField;

const isRequired = (input: Input) => isNonNullType(input.type) && input.defaultValue === undefined;

/** Page sizes and directions are not repeated here; the others have tests of their own (cursors, idempotency). */
const leftOut = new Set(['first', 'after', 'before', 'idempotencyKey', 'agent', 'force']);

/** Of members of which exactly one must be sent: the one that always is, and those that never are. */
const alwaysSent = new Set(['input.repoPath']);
const neverSent = new Set(['input.groupPrefix', 'input.prefixPath']);

/** Values for texts that need a specific form. */
const plainTexts: Readonly<Record<string, string>> = {
  // A word of each tenant's sessions.
  query: 'canary',
  email: 'walk@example.com',
  emails: 'walk@example.com',
  ranges: '0.0.0.0/0',
  cidr: '0.0.0.0/0',
  ipRanges: '0.0.0.0/0',
  key: 'WALK',
  eventType: 'github:push',
  url: 'https://walk.example/',
  // No server is there: a test of a key fails at once.
  baseUrl: 'http://127.0.0.1:1/v1',
  optionId: '1',
  document: '{ __typename }',
  repoPath: 'walk/walk',
};

/** Flags whose only valid value is true. */
const onlyTrue = new Set(['enterprise', 'viewer']);

/** The inputs of arguments: their ids, their texts, and a function for their values. */
export interface Inputs {
  readonly slots: readonly Slot[];
  readonly texts: readonly string[];
  readonly variants: number;
  /** True if there are optional inputs. */
  readonly hasOptional: boolean;
  /** The values by argument name, as JSON. */
  values(fill: Fill): Record<string, unknown>;
}

/**
 * Reads the arguments of a field, including nested input objects. `within`: the field's name, which tells the kind of a
 * plain "id". Throws, with the rule to add, for an unknown type or id.
 */
export function readInputs(inputs: readonly Input[], within: string): Inputs {
  const slots: Slot[] = [];
  const texts: string[] = [];
  let variants = 1;
  let hasOptional = false;
  // A recursive type is visited once: its nested values are looked up like the outer ones.
  const open = new Set<GraphQLInputType>();
  const read = (
    list: readonly Input[],
    prefix: string,
    required: boolean,
    depth: number,
    choices: readonly Choice[] = [],
    turns: Turns = noTurns,
  ) => {
    for (const [n, input] of list.entries()) {
      const name = prefix + input.name;
      const type = getNamedType(input.type);
      const needed = required && (turns.isOf !== null || isRequired(input));
      const isIn = turns.isOf?.(n);
      const above = isIn ? [...choices, { of: prefix.slice(0, -1), member: input.name, isIn }] : choices;
      hasOptional ||= !isRequired(input) && !leftOut.has(input.name);
      if (isInputObjectType(type)) {
        if (depth >= 4 || open.has(type)) continue;
        open.add(type);
        const members = Object.values(type.getFields());
        const inner = type.isOneOf ? turnsOf(members.length, turns) : { ...turns, isOf: null };
        if (needed) variants = Math.max(variants, inner.count);
        read(members, `${name}.`, needed, depth + 1, above, inner);
        open.delete(type);
        continue;
      }
      if (isEnumType(type)) {
        variants = needed ? Math.max(variants, type.getValues().length) : variants;
        continue;
      }
      const kinds = kindsOf(input.name, type.name === 'ID', within);
      if (kinds) slots.push({ name, kinds, isRequired: needed, choices: above });
      else if (type.name === 'String') texts.push(name);
      else if (!Object.hasOwn(plain, type.name)) {
        throw new Error(
          `No rule says what to give for "${name}" of ${within}, of the type ${type.name}: add one to \`plain\` in test/tenancy/inputs.ts.`,
        );
      }
    }
  };
  read(inputs, '', true, 0);
  return { slots, texts, variants, hasOptional, values: (fill) => build(inputs, '', fill) ?? {} };
}

/** The rotation of variants over inputs with exactly one member. */
interface Turns {
  /** The number of variants that cover each combination of members, including those of the inputs above. */
  readonly count: number;
  /** Null: this input takes all its members at once. */
  readonly isOf: ((member: number) => (variant: number) => boolean) | null;
}

const noTurns: Turns = { count: 1, isOf: null };

function turnsOf(members: number, above: Turns): Turns {
  const isOf = (member: number) => (variant: number) => Math.floor(variant / above.count) % members === member;
  return { count: above.count * members, isOf };
}

/** Members that combine filters: if empty, they match everything or nothing. */
const combinators = new Set(['and', 'or', 'not']);

/** One value of each scalar. */
const plain: Readonly<Record<string, unknown>> = {
  String: 'walk',
  Int: 5,
  Float: 1,
  Boolean: false,
  DateTime: '2100-01-01T00:00:00Z',
  URI: 'https://walk.example/',
  Date: new Date().toISOString().slice(0, 10),
  JSON: { type: 'object' },
  BigInt: 5,
  // Only for ids of objects that belong to no tenant.
  ID: 'demo',
};

/** Ids of objects that belong to no tenant, by the names of inputs: the demo agent has no program. */
const plainIds: Readonly<Record<string, string>> = { 'input.agentId': 'claude' };

function build(
  list: readonly Input[],
  prefix: string,
  fill: Fill,
  turns = noTurns,
): Record<string, unknown> | undefined {
  const values: Record<string, unknown> = {};
  const chosen = turns.isOf && chosenOf(list, prefix, fill, turns);
  for (const input of chosen ? [chosen] : list) {
    const name = prefix + input.name;
    const type = getNamedType(input.type);
    let value: unknown;
    if (combinators.has(input.name)) continue;
    if (isInputObjectType(type)) {
      const isWanted = chosen || isRequired(input) || isPresent(name, fill) || (fill.isFull && prefix === '');
      const members = Object.values(type.getFields());
      const inner = type.isOneOf ? turnsOf(members.length, turns) : { ...turns, isOf: null };
      value = isWanted && prefix.split('.').length < 5 ? (build(members, `${name}.`, fill, inner) ?? {}) : undefined;
    } else {
      value = leaf(input, name, fill, chosen !== null);
    }
    if (value !== undefined) values[input.name] = wrap(input.type, value);
  }
  return Object.keys(values).length > 0 ? values : undefined;
}

/** The member to test: a text before an id; otherwise the next one in rotation. */
function chosenOf(list: readonly Input[], prefix: string, fill: Fill, turns: Turns): Input | null {
  const memberIn = (texts: ReadonlyMap<string, unknown>) =>
    list.find(({ name }) => isPresent(prefix + name, { ids: texts, texts: texts }));
  const itsTurn = list.find((_, n) => turns.isOf?.(n)(fill.variant));
  return memberIn(fill.texts) ?? memberIn(fill.ids) ?? itsTurn ?? null;
}

function isPresent(name: string, { ids, texts }: { readonly [Key in 'ids' | 'texts']: ReadonlyMap<string, unknown> }) {
  return [...ids.keys(), ...texts.keys()].some((present) => present === name || present.startsWith(`${name}.`));
}

function leaf(input: Input, name: string, fill: Fill, isChosen: boolean): unknown {
  const type = getNamedType(input.type);
  const picked = fill.ids.get(name);
  if (picked) return wireId(picked.kind, picked.id, fill.isFull);
  const text = fill.texts.get(name);
  if (text !== undefined) return text;
  const [before, after] = ['before', 'after'].map((each) => fill.texts.has(name.replace(/\w+$/, each)));
  if ((input.name === 'first' && after) || (input.name === 'last' && before)) return 5;
  if (neverSent.has(name)) return undefined;
  const isWanted = isChosen || isRequired(input) || alwaysSent.has(name) || (fill.isFull && !leftOut.has(input.name));
  if (type.name === 'ID') return isRequired(input) ? (plainIds[name] ?? plain.ID) : undefined;
  if (!isWanted) return undefined;
  if (isEnumType(type)) {
    const enumValues = type.getValues();
    return enumValues[fill.variant % enumValues.length]?.name;
  }
  if (onlyTrue.has(input.name)) return true;
  // A filter of the list of sessions.
  if (type.name === 'JSON' && input.name === 'filter') return {};
  if (type.name !== 'String') return plain[type.name];
  return plainTexts[input.name] ?? plain.String;
}

function wrap(type: GraphQLInputType, value: unknown): unknown {
  const bare = isNonNullType(type) ? type.ofType : type;
  return isListType(bare) && !Array.isArray(value) ? [value] : value;
}

/** An id in a client's form: global, or with its prefix. */
export function wireId(kind: IdKind, id: string, isGlobal: boolean): string {
  return isGlobal ? globalId(kind, id) : prefixedId(kind, id);
}
