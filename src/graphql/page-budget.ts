import {
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';
import { costRuleOf, type ListRule } from './cost-rules.ts';

/** The most items that the pages of one operation may hold in all, with pages inside pages multiplied. */
export const mostItems = 12_000;

/** An operation as it will run. */
export interface Operation {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** Their values as the operation will see them, with its defaults; null is a value too. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** On how many sessions its bulk mutations acted, by their names in the answer, once they have run. */
  readonly ran?: ReadonlyMap<string | number, number>;
}

/**
 * How many items the pages of an operation could hold in all: exact up to {@link mostItems}. What a page's size is left to
 * a variable that is no number counts as the largest page.
 */
export function countPageItems(asked: Operation): number {
  const count = { items: 0 };
  const root = asked.schema.getRootType(asked.operation.operation);
  if (root) countItems(asked, count, asked.operation.selectionSet, root, () => 1);
  return count.items;
}

/** An error when an operation asks for more than {@link mostItems}: a hundred pages of a hundred pages are a short text. */
export function findExcessItems(items: number): GraphQLError | null {
  if (items <= mostItems) return null;
  return new GraphQLError(
    `The pages of the operation may hold at most ${mostItems} items in all, but could hold ${items} or more: give "first" or "last" a smaller number, or ask for fewer pages inside one another.`,
    { extensions: { code: 'LIMIT_EXCEEDED' } },
  );
}

/** `timesOf`: how often a field of the set counts, by its name. */
function countItems(
  asked: Operation,
  count: { items: number },
  set: SelectionSetNode,
  type: GraphQLOutputType,
  timesOf: (name: string) => number,
): void {
  for (const selection of set.selections) {
    // Enough is known; and what is left could be long.
    if (count.items > mostItems) return;
    if (selection.kind === Kind.FIELD) {
      countField(asked, count, selection, type, timesOf(selection.name.value));
      continue;
    }
    const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? asked.fragments.get(selection.name.value) : selection;
    if (!fragment) continue;
    const condition = fragment.typeCondition ? asked.schema.getType(fragment.typeCondition.name.value) : type;
    if (isCompositeType(condition)) {
      countItems(asked, count, fragment.selectionSet, condition, timesOf);
    }
  }
}

function countField(
  asked: Operation,
  count: { items: number },
  field: FieldNode,
  type: GraphQLOutputType,
  times: number,
): void {
  if (!(isObjectType(type) || isInterfaceType(type))) return;
  const definition = type.getFields()[field.name.value];
  if (!definition) return;
  const { items, list } = costRuleOf(definition);
  const size = list ? sizeOf(asked, field, list) : 1;
  count.items += times * (items + (list ? size * list.itemCost : 0));
  const isSized = (name: string) => list?.sizedFields?.includes(name) ?? true;
  const timesOf = (name: string) => (isSized(name) ? times * size : times);
  if (field.selectionSet) countItems(asked, count, field.selectionSet, getNamedType(definition.type), timesOf);
}

/** Number of items a list has at most, by its rule and what is given; of acts that have run, how many they were. */
function sizeOf(asked: Operation, field: FieldNode, rule: ListRule): number {
  const { slicingArguments, assumedSize, maximumSize, isOfActs } = rule;
  // An act that is missing was left out by a directive.
  if (isOfActs && asked.ran) return asked.ran.get(field.alias?.value ?? field.name.value) ?? 0;
  for (const path of slicingArguments) {
    const value = argumentOf(asked, field, path.split('.'));
    if (value == null || (Array.isArray(value) && value.length === 0)) continue;
    const size = Array.isArray(value) ? value.length : value;
    // Anything else is refused when it runs.
    if (typeof size !== 'number' || size <= 0) return maximumSize ?? assumedSize;
    return maximumSize === null ? size : Math.min(size, maximumSize);
  }
  return assumedSize;
}

function argumentOf(asked: Operation, field: FieldNode, [name, ...members]: readonly string[]): unknown {
  let value = field.arguments?.find((argument) => argument.name.value === name)?.value;
  for (const [n, member] of members.entries()) {
    if (value?.kind === Kind.VARIABLE) return memberOf(readValue(asked, value), members.slice(n));
    if (value?.kind !== Kind.OBJECT) return undefined;
    value = value.fields.find((each) => each.name.value === member)?.value;
  }
  return readValue(asked, value);
}

function memberOf(value: unknown, path: readonly string[]): unknown {
  return path.reduce((inner, name) => (inner as Readonly<Record<string, unknown>> | null | undefined)?.[name], value);
}

function readValue(asked: Operation, value: ValueNode | undefined): unknown {
  if (!value) return undefined;
  if (value.kind === Kind.VARIABLE) return asked.variables[value.name.value];
  if (value.kind === Kind.INT) return Number(value.value);
  return value.kind === Kind.LIST ? value.values : undefined;
}
