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

/** The maximum number of items in all pages of one operation; nested pages multiply. */
export const maxItems = 12_000;

/** An operation as it will run. */
export interface Operation {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** The coerced variables with defaults; null is a value too. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** The number of sessions that each bulk mutation changed, by response name, once it has run. */
  readonly ran?: ReadonlyMap<string | number, number>;
}

/**
 * The maximum number of items in all pages of an operation: exact up to {@link maxItems}. A page whose size is a
 * variable that is not a number counts as the largest page.
 */
export function countPageItems(input: Operation): number {
  const count = { items: 0 };
  const root = input.schema.getRootType(input.operation.operation);
  if (root) countItems(input, count, input.operation.selectionSet, root, () => 1);
  return count.items;
}

/**
 * An error if an operation requests more than {@link maxItems}: a hundred pages of a hundred pages need only a short
 * document.
 */
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
    // The limit is exceeded already, and the rest could be long.
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

/**
 * The maximum number of items of a list, from its rule and arguments. For a bulk mutation that has run, the actual
 * number.
 */
function sizeOf(input: Operation, field: FieldNode, rule: ListRule): number {
  const { slicingArguments, assumedSize, maximumSize, isOfActs } = rule;
  // A bulk mutation without a result was skipped by a directive.
  if (isOfActs && input.ran) return input.ran.get(field.alias?.value ?? field.name.value) ?? 0;
  for (const path of slicingArguments) {
    const value = argumentOf(input, field, path.split('.'));
    if (value == null || (Array.isArray(value) && value.length === 0)) continue;
    const size = Array.isArray(value) ? value.length : value;
    // Execution refuses any other value.
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
