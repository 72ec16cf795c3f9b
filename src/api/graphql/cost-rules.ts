import {
  type GraphQLField,
  type GraphQLInputType,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
} from 'graphql';
import { pageLimits } from './loaders.ts';

/** Number of items a field that is a list, or acts on several things, counts for. */
export interface ListRule {
  /** Arguments that say how many: a number, or a list by its length. The first one that is given counts; `a.b` is a member of `a`. */
  readonly slicingArguments: readonly string[];
  /** Number of items when none of them is given. */
  readonly assumedSize: number;
  /** Number of items at most, whatever is given; null: there is no other limit than that of a list's own. */
  readonly maximumSize: number | null;
  /** The fields below it that hold the items. What is selected of others counts once; null: everything counts for each item. */
  readonly sizedFields: readonly string[] | null;
  /** Cost of each item, in items. */
  readonly itemCost: number;
  /** True if the items are acts, of which those count in the end that have run. */
  readonly isOfActs: boolean;
}

/** What a field counts for each time that it is answered: what the gate counts, and what the printed schema says. */
export interface CostRule {
  /** Items that it counts for by itself. */
  readonly items: number;
  /** What is selected of a field with a list counts for each of its items; null: once. */
  readonly list: ListRule | null;
}

type Field = GraphQLField<unknown, unknown>;

/** What each act of a bulk mutation counts as: the price of a mutation, in items. */
const itemsOfAct = 10;

const cachedRules = new WeakMap<Field, CostRule>();

/**
 * The rule of a field. Pages, lists of ids and bulk mutations are known by their arguments. Any other field that costs more than
 * its reading says it by its extension `items`: a number, or the name of the argument that says how many; and by its extension
 * `weight`, how many items each of them stands for.
 */
export function costRuleOf(field: Field): CostRule {
  const found = cachedRules.get(field);
  if (found) return found;
  const rule = makeRule(field);
  cachedRules.set(field, rule);
  return rule;
}

function makeRule({ args, extensions }: Field): CostRule {
  const { items, weight = 1 } = extensions;
  const list = pageRule(args) ?? idsRule(args) ?? bulkRule(args);
  if (typeof items !== 'string') return { items: typeof items === 'number' ? items : 0, list };
  const { defaultValue } = args.find(({ name }) => name === items) ?? {};
  const { max } = pageLimits;
  const assumedSize = typeof defaultValue === 'number' ? defaultValue : max;
  return {
    items: 0,
    list: {
      slicingArguments: [items],
      assumedSize,
      maximumSize: max,
      sizedFields: null,
      itemCost: Number(weight),
      isOfActs: false,
    },
  };
}

type Arguments = Field['args'];

function pageRule(args: Arguments): ListRule | null {
  if (!args.some(({ name }) => name === 'first')) return null;
  const { max, default: assumedSize } = pageLimits;
  return {
    slicingArguments: ['first', 'last'],
    assumedSize,
    maximumSize: max,
    sizedFields: ['edges', 'nodes'],
    itemCost: 1,
    isOfActs: false,
  };
}

function idsRule(args: Arguments): ListRule | null {
  const ids = args.find(({ name }) => name === 'ids');
  if (!ids || !isListType(getNullableType(ids.type))) return null;
  return {
    slicingArguments: ['ids'],
    assumedSize: 1,
    maximumSize: null,
    sizedFields: null,
    itemCost: 1,
    isOfActs: false,
  };
}

/** The path of the ids in the input of a bulk mutation. */
const idsOfBulk = ['selection', 'sessionIds'];

function bulkRule(args: Arguments): ListRule | null {
  const type = args.find(({ name }) => name === 'input')?.type;
  if (!type || !hasMember(type, idsOfBulk)) return null;
  const { max } = pageLimits;
  const slicingArguments = [['input', ...idsOfBulk].join('.'), 'input.first'];
  return {
    slicingArguments,
    assumedSize: max,
    maximumSize: max,
    sizedFields: null,
    itemCost: itemsOfAct,
    isOfActs: true,
  };
}

function hasMember(type: GraphQLInputType, [name = '', ...rest]: readonly string[]): boolean {
  const named = getNamedType(type);
  const member = isInputObjectType(named) ? named.getFields()[name] : undefined;
  return member !== undefined && (rest.length === 0 || hasMember(member.type, rest));
}
