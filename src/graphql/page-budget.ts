import {
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';
import { pageLimits } from './loaders.ts';

/** The most items that the pages of one operation may hold in all, with pages inside pages multiplied. */
export const mostItems = 12_000;

/** What each act of a bulk mutation counts as: the price of a mutation, in items. */
const itemsOfAct = 10;

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
  if (root) countItems(asked, count, asked.operation.selectionSet, root, 1);
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

function countItems(
  asked: Operation,
  count: { items: number },
  set: SelectionSetNode,
  type: GraphQLOutputType,
  times: number,
): void {
  for (const selection of set.selections) {
    // Enough is known; and what is left could be long.
    if (count.items > mostItems) return;
    if (selection.kind === Kind.FIELD) {
      countField(asked, count, selection, type, times);
      continue;
    }
    const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? asked.fragments.get(selection.name.value) : selection;
    if (!fragment) continue;
    const condition = fragment.typeCondition ? asked.schema.getType(fragment.typeCondition.name.value) : type;
    if (isObjectType(condition) || isInterfaceType(condition)) {
      countItems(asked, count, fragment.selectionSet, condition, times);
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
  count.items += times * ownItems(asked, field, definition);
  if (!field.selectionSet) return;
  const isPage = definition.args.some((argument) => argument.name === 'first');
  const batch = isPage ? null : batchSize(asked, field, definition);
  const size = isPage ? pageSize(asked, field) : (batch ?? lengthOfIds(asked, field));
  if (size !== null) count.items += times * size * (batch === null ? 1 : itemsOfAct);
  countItems(asked, count, field.selectionSet, getNamedType(definition.type), times * (size ?? 1));
}

/**
 * What a list that is no page, or a figure that takes as long, counts for: a field says it by its extension `items`, a number,
 * or the name of the argument that says how many; and by its extension `weight`, how many items each of them stands for.
 */
function ownItems(asked: Operation, field: FieldNode, definition: GraphQLField<unknown, unknown>): number {
  const { items, weight = 1 } = definition.extensions;
  if (typeof items === 'number') return items;
  if (typeof items !== 'string') return 0;
  const asksFor = argumentOf(asked, field, items) ?? definition.args.find(({ name }) => name === items)?.defaultValue;
  const count = typeof asksFor === 'number' && asksFor > 0 ? Math.min(asksFor, pageLimits.max) : pageLimits.max;
  return count * Number(weight);
}

function pageSize(asked: Operation, field: FieldNode): number {
  const given = [argumentOf(asked, field, 'first'), argumentOf(asked, field, 'last')].filter((size) => size != null);
  const [size = pageLimits.default] = given;
  return typeof size === 'number' && size > 0 ? Math.min(size, pageLimits.max) : pageLimits.max;
}

/** The most that a bulk mutation acts on, or on how many it has acted; null for any other field. */
function batchSize(asked: Operation, field: FieldNode, definition: GraphQLField<unknown, unknown>): number | null {
  const type = getNamedType(definition.args.find(({ name }) => name === 'input')?.type);
  if (!isInputObjectType(type) || !type.getFields().selection) return null;
  const ran = asked.ran?.get(field.alias?.value ?? field.name.value);
  if (ran !== undefined) return ran;
  const ids = memberOfInput(asked, field, 'selection', 'sessionIds');
  if (Array.isArray(ids) && ids.length > 0) return Math.min(ids.length, pageLimits.max);
  const first = memberOfInput(asked, field, 'first');
  return typeof first === 'number' && first > 0 ? Math.min(first, pageLimits.max) : pageLimits.max;
}

function memberOfInput(asked: Operation, field: FieldNode, ...path: readonly string[]): unknown {
  let node = field.arguments?.find((argument) => argument.name.value === 'input')?.value;
  for (const [n, name] of path.entries()) {
    if (node?.kind === Kind.VARIABLE) {
      let value = asked.variables[node.name.value];
      for (const inner of path.slice(n)) value = (value as Record<string, unknown> | null | undefined)?.[inner];
      return value;
    }
    if (node?.kind !== Kind.OBJECT) return undefined;
    node = node.fields.find((member) => member.name.value === name)?.value;
  }
  return readValue(asked, node);
}

function lengthOfIds(asked: Operation, field: FieldNode): number | null {
  const ids = argumentOf(asked, field, 'ids');
  return Array.isArray(ids) ? ids.length : null;
}

function argumentOf(asked: Operation, field: FieldNode, name: string): unknown {
  return readValue(asked, field.arguments?.find((argument) => argument.name.value === name)?.value);
}

function readValue(asked: Operation, value: ValueNode | undefined): unknown {
  if (!value) return undefined;
  if (value.kind === Kind.VARIABLE) return asked.variables[value.name.value];
  if (value.kind === Kind.INT) return Number(value.value);
  return value.kind === Kind.LIST ? value.values : undefined;
}
