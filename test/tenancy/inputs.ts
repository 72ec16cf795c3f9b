import {
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLNonNull,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import { globalId, type IdKind, prefixedId } from '../../src/domain/ids.ts';
import type { Fill, Slot } from './operation.ts';
import { kindsOf } from './slots.ts';

type Input = GraphQLArgument | GraphQLInputField;

const isRequired = (input: Input) => isNonNullType(input.type) && input.defaultValue === undefined;

/** A page takes no size twice; the others are tests of their own (cursors, idempotency). */
const leftOut = new Set(['first', 'after', 'before', 'idempotencyKey', 'agent', 'force']);

/** What is said where a text of some form is needed. */
const plainTexts: Readonly<Record<string, string>> = {
  email: 'walk@example.com',
  emails: 'walk@example.com',
  ranges: '0.0.0.0/0',
  cidr: '0.0.0.0/0',
  ipRanges: '0.0.0.0/0',
  key: 'WALK',
  eventType: 'github:push',
  url: 'https://walk.example/',
  optionId: '1',
};

/** What some arguments take: their ids, their texts, and how a call is filled. */
export interface Inputs {
  readonly slots: readonly Slot[];
  readonly texts: readonly string[];
  readonly variants: number;
  /** Whether there is more to give than what must be. */
  readonly hasOptional: boolean;
  /** The values by the arguments' names, as JSON. */
  values(fill: Fill): Record<string, unknown>;
}

/**
 * Reads the arguments of a field, with input objects inside them. `within`: the field's name, which says what a bare "id"
 * is the id of. Throws, with what to add, for a type or an id that no rule covers.
 */
export function readInputs(inputs: readonly Input[], within: string): Inputs {
  const slots: Slot[] = [];
  const texts: string[] = [];
  let variants = 1;
  let hasOptional = false;
  // A type inside itself is walked once: what it takes there is looked up as it is outside.
  const open = new Set<GraphQLInputType>();
  const read = (list: readonly Input[], prefix: string, required: boolean, depth: number) => {
    for (const input of list) {
      const name = prefix + input.name;
      const type = getNamedType(input.type);
      const needed = required && isRequired(input);
      hasOptional ||= !isRequired(input) && !leftOut.has(input.name);
      if (isInputObjectType(type)) {
        if (depth >= 4 || open.has(type)) continue;
        open.add(type);
        const members = Object.values(type.getFields());
        // Of a choice the first is taken where none is asked for.
        if (type.isOneOf)
          for (const [n, each] of members.entries())
            read([n === 0 ? needOf(each) : each], `${name}.`, needed, depth + 1);
        else read(members, `${name}.`, needed, depth + 1);
        open.delete(type);
        continue;
      }
      if (isEnumType(type)) {
        variants = needed ? Math.max(variants, type.getValues().length) : variants;
        continue;
      }
      const kinds = kindsOf(input.name, type.name === 'ID', within);
      if (kinds) slots.push({ name, kinds, isRequired: needed });
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

/** Members that combine filters: empty, they say nothing, or match nothing. */
const combinators = new Set(['and', 'or', 'not']);

/** One value of each scalar. */
const plain: Readonly<Record<string, unknown>> = {
  String: 'walk',
  Int: 5,
  Float: 1,
  Boolean: false,
  DateTime: '2100-01-01T00:00:00Z',
  Date: new Date().toISOString().slice(0, 10),
  JSON: { type: 'object' },
  BigInt: 5,
};

function build(list: readonly Input[], prefix: string, fill: Fill): Record<string, unknown> | undefined {
  const values: Record<string, unknown> = {};
  for (const input of list) {
    const name = prefix + input.name;
    const type = getNamedType(input.type);
    let value: unknown;
    if (combinators.has(input.name)) continue;
    if (isInputObjectType(type)) {
      const isAsked = [...fill.ids.keys(), ...fill.texts.keys()].some((asked) => asked.startsWith(`${name}.`));
      const isWanted = isRequired(input) || isAsked || (fill.isFull && prefix === '');
      value =
        isWanted && prefix.split('.').length < 5
          ? (build(membersOf(type, `${name}.`, fill), `${name}.`, fill) ?? {})
          : undefined;
    } else {
      value = leaf(input, name, fill);
    }
    if (value !== undefined) values[input.name] = wrap(input.type, value);
  }
  return Object.keys(values).length > 0 ? values : undefined;
}

/** A member as one that must be given. */
const needOf = (input: Input): Input => ({ ...input, type: new GraphQLNonNull(getNullableType(input.type)) });

/** The members to fill: of a choice one alone, the last that is asked for, else the first. */
function membersOf(type: GraphQLInputObjectType, prefix: string, { ids, texts }: Fill): readonly Input[] {
  const members = Object.values(type.getFields());
  if (!type.isOneOf) return members;
  const asked = [...ids.keys(), ...texts.keys()].filter((name) => name.startsWith(prefix));
  const isAsked = ({ name }: Input) => asked.some((each) => `${each}.`.startsWith(`${prefix}${name}.`));
  const chosen = members.findLast(isAsked) ?? members[0];
  return chosen ? [needOf(chosen)] : [];
}

function leaf(input: Input, name: string, fill: Fill): unknown {
  const type = getNamedType(input.type);
  const picked = fill.ids.get(name);
  if (picked) return wireId(picked.kind, picked.id, fill.isFull);
  const text = fill.texts.get(name);
  if (text !== undefined) return text;
  const [before, after] = ['before', 'after'].map((each) => fill.texts.has(name.replace(/\w+$/, each)));
  if ((input.name === 'first' && after) || (input.name === 'last' && before)) return 5;
  const isWanted = isRequired(input) || (fill.isFull && !leftOut.has(input.name));
  if (type.name === 'ID' || !isWanted) return undefined;
  if (isEnumType(type)) {
    const known = type.getValues();
    return known[fill.variant % known.length]?.name;
  }
  if (type.name !== 'String') return plain[type.name];
  return plainTexts[input.name] ?? plain.String;
}

function wrap(type: GraphQLInputType, value: unknown): unknown {
  const bare = isNonNullType(type) ? type.ofType : type;
  return isListType(bare) && !Array.isArray(value) ? [value] : value;
}

/** An id as a client writes it: the global one, or with its prefix. */
export function wireId(kind: IdKind, id: string, isGlobal: boolean): string {
  return isGlobal ? globalId(kind, id) : prefixedId(kind, id);
}
