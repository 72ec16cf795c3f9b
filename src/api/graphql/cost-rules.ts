import {
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLNamedType,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
  isObjectType,
} from 'graphql';
import { pageLimits } from './loaders.ts';

/** The number of items that a list field, or a bulk mutation, counts for. */
export interface ListRule {
  /**
   * Arguments that set the number: a number, or a list by its length. The first one present counts; `a.b` is a member
   * of `a`.
   */
  readonly slicingArguments: readonly string[];
  /** The number of items if none of these arguments is present. */
  readonly assumedSize: number;
  /** The maximum number of items; null: only the list's own maximum applies. */
  readonly maximumSize: number | null;
  /**
   * The child fields that hold the items. Selections of other fields count once; null: everything counts for each item.
   */
  readonly sizedFields: readonly string[] | null;
  /** Cost of each item, in items. */
  readonly itemCost: number;
  /** True if the items are operations of a bulk mutation. After the run, only those that were executed count. */
  readonly isOfActs: boolean;
}

/** The cost of a field for each time that it is resolved. The gate charges by it, and the printed schema shows it. */
export interface CostRule {
  /** The items of the field itself. */
  readonly items: number;
  /** Selections below the field count for each item of its list; null: they count once. */
  readonly list: ListRule | null;
}

type Field = GraphQLField<unknown, unknown>;

/** The cost of each operation of a bulk mutation, in items: the price of one mutation. */
const itemsOfAct = 10;

const cachedRules = new WeakMap<Field, CostRule>();

/**
 * The cost rule of a field. Pages, lists of ids and bulk mutations are recognized by their arguments. Any other field
 * with an extra cost declares it in its extensions: `items` is a number or the name of the argument with the number,
 * and `weight` is the cost of each item.
 */
export function costRuleOf(field: Field): CostRule {
  const found = cachedRules.get(field);
  if (found) return found;
  const rule = makeRule(field);
  cachedRules.set(field, rule);
  return rule;
}

function makeRule({ args, extensions, type }: Field): CostRule {
  const { items, weight = 1 } = extensions;
  const list = pageRule(args, getNamedType(type)) ?? idsRule(args) ?? bulkRule(args);
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

function pageRule(args: Arguments, page: GraphQLNamedType): ListRule | null {
  const slicingArguments = ['first', 'last'].filter((each) => args.some(({ name }) => name === each));
  if (!slicingArguments.includes('first')) return null;
  const { max, default: assumedSize } = pageLimits;
  const fields = isObjectType(page) ? page.getFields() : {};
  return {
    slicingArguments,
    assumedSize,
    maximumSize: max,
    sizedFields: ['edges', 'nodes'].filter((name) => name in fields),
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
