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
export const maxItems = 12_000;

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
 * How many items the pages of an operation could hold in all: exact up to {@link maxItems}. What a page's size is left to
 * a variable that is no number counts as the largest page.
 */
export function countPageItems(input: Operation): number {
  const count = { items: 0 };
  const root = input.schema.getRootType(input.operation.operation);
  if (root) countItems(input, count, input.operation.selectionSet, root, () => 1);
  return count.items;
}

/** An error when an operation asks for more than {@link maxItems}: a hundred pages of a hundred pages are a short text. */
export function findExceededItemLimit(items: number): GraphQLError | null {
  if (items <= maxItems) return null;
  return new GraphQLError(
    `The pages of the operation may hold at most ${maxItems} items in all, but could hold ${items} or more: give "first" or "last" a smaller number, or ask for fewer pages inside one another.`,
    { extensions: { code: 'LIMIT_EXCEEDED' } },
  );
}

/** `timesOf`: how often a field of the set counts, by its name. */
function countItems(
  input: Operation,
  count: { items: number },
  set: SelectionSetNode,
  type: GraphQLOutputType,
  timesOf: (name: string) => number,
): void {
  for (const selection of set.selections) {
    // Enough is known; and what is left could be long.
    if (count.items > maxItems) return;
    if (selection.kind === Kind.FIELD) {
      countField(input, count, selection, type, timesOf(selection.name.value));
      continue;
    }
    const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? input.fragments.get(selection.name.value) : selection;
    if (!fragment) continue;
    const condition = fragment.typeCondition ? input.schema.getType(fragment.typeCondition.name.value) : type;
    if (isCompositeType(condition)) {
      countItems(input, count, fragment.selectionSet, condition, timesOf);
    }
  }
}

function countField(
  input: Operation,
  count: { items: number },
  field: FieldNode,
  type: GraphQLOutputType,
  times: number,
): void {
  if (!(isObjectType(type) || isInterfaceType(type))) return;
  const definition = type.getFields()[field.name.value];
  if (!definition) return;
  const { items, list } = costRuleOf(definition);
  const size = list ? sizeOf(input, field, list) : 1;
  count.items += times * (items + (list ? size * list.itemCost : 0));
  const isSized = (name: string) => list?.sizedFields?.includes(name) ?? true;
  const timesOf = (name: string) => (isSized(name) ? times * size : times);
  if (field.selectionSet) countItems(input, count, field.selectionSet, getNamedType(definition.type), timesOf);
}

/** Number of items a list has at most, by its rule and what is given; of acts that have run, how many they were. */
function sizeOf(input: Operation, field: FieldNode, rule: ListRule): number {
  const { slicingArguments, assumedSize, maximumSize, isOfActs } = rule;
  // An act that is missing was left out by a directive.
  if (isOfActs && input.ran) return input.ran.get(field.alias?.value ?? field.name.value) ?? 0;
  for (const path of slicingArguments) {
    const value = argumentOf(input, field, path.split('.'));
    if (value == null || (Array.isArray(value) && value.length === 0)) continue;
    const size = Array.isArray(value) ? value.length : value;
    // Anything else is refused when it runs.
    if (typeof size !== 'number' || size <= 0) return maximumSize ?? assumedSize;
    return maximumSize === null ? size : Math.min(size, maximumSize);
  }
  return assumedSize;
}

function argumentOf(input: Operation, field: FieldNode, [name, ...members]: readonly string[]): unknown {
  let value = field.arguments?.find((argument) => argument.name.value === name)?.value;
  for (const [n, member] of members.entries()) {
    if (value?.kind === Kind.VARIABLE) return memberOf(readValue(input, value), members.slice(n));
    if (value?.kind !== Kind.OBJECT) return undefined;
    value = value.fields.find((each) => each.name.value === member)?.value;
  }
  return readValue(input, value);
}

function memberOf(value: unknown, path: readonly string[]): unknown {
  return path.reduce((inner, name) => (inner as Readonly<Record<string, unknown>> | null | undefined)?.[name], value);
}

function readValue(input: Operation, value: ValueNode | undefined): unknown {
  if (!value) return undefined;
  if (value.kind === Kind.VARIABLE) return input.variables[value.name.value];
  if (value.kind === Kind.INT) return Number(value.value);
  return value.kind === Kind.LIST ? value.values : undefined;
}
