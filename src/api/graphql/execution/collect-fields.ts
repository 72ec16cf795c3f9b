import {
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getArgumentValues,
  isAbstractType,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';
import type { Compilation } from './compilation.ts';
import type { Run } from './run.ts';

/** Thrown for operations that only the plain executor supports. */
export class Unsupported extends Error {}

/** The field nodes below a value, by response name and in order. */
export type FieldGroups = ReadonlyMap<string, readonly [FieldNode, ...FieldNode[]]>;

/** The fields that selection sets request from an object type, with fragments expanded and skipped fields removed. */
export function collectFields(
  compilation: Compilation,
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
): FieldGroups {
  const groups = new Map<string, [FieldNode, ...FieldNode[]]>();
  const seen = new Set<string>();
  for (const set of sets) collect(compilation, type, set, groups, seen);
  return groups;
}

function collect(
  compilation: Compilation,
  type: GraphQLObjectType,
  set: SelectionSetNode,
  groups: Map<string, [FieldNode, ...FieldNode[]]>,
  seen: Set<string>,
): void {
  for (const selection of set.selections) {
    if (!isIncluded(compilation, selection)) continue;
    if (selection.kind === Kind.FIELD) {
      const key = selection.alias?.value ?? selection.name.value;
      const group = groups.get(key);
      if (group) group.push(selection);
      else groups.set(key, [selection]);
      continue;
    }
    if (selection.kind === Kind.FRAGMENT_SPREAD) {
      const { value: name } = selection.name;
      if (seen.has(name)) continue;
      seen.add(name);
    }
    const fragment =
      selection.kind === Kind.FRAGMENT_SPREAD ? compilation.fragments.get(selection.name.value) : selection;
    if (!fragment || !isOf(compilation.schema, fragment.typeCondition?.name.value, type)) continue;
    collect(compilation, type, fragment.selectionSet, groups, seen);
  }
}

function isOf(schema: GraphQLSchema, condition: string | undefined, type: GraphQLObjectType): boolean {
  if (condition === undefined || condition === type.name) return true;
  const conditionType = schema.getType(condition);
  return isAbstractType(conditionType) && schema.isSubType(conditionType, type);
}

function isIncluded({ conditions }: Compilation, { directives = [] }: SelectionNode): boolean {
  for (const { name, arguments: args = [] } of directives) {
    if (name.value !== 'skip' && name.value !== 'include') throw new Unsupported(`@${name.value}`);
    const value = args.find((argument) => argument.name.value === 'if')?.value;
    const truth =
      value?.kind === Kind.VARIABLE ? conditions[value.name.value] : value?.kind === Kind.BOOLEAN && value.value;
    if (truth === undefined) throw new Unsupported(`the condition of @${name.value}`);
    if (truth === (name.value === 'skip')) return false;
  }
  return true;
}

/** The arguments of a field without arguments. */
const none: Record<string, never> = Object.freeze({});

/** Reads the arguments of a field. Arguments without variables are read once, the others once per run. */
export function argumentsOf(
  { numbers }: Compilation,
  definition: GraphQLField<unknown, unknown>,
  node: FieldNode,
): (run: Run) => Record<string, unknown> {
  if (definition.args.length === 0) return () => none;
  if (!node.arguments?.some(({ value }) => hasVariable(value))) {
    const args = getArgumentValues(definition, node);
    return () => ({ ...args });
  }
  const number = numbers.next++;
  return (run) => {
    run.args[number] ??= getArgumentValues(definition, node, run.variables);
    return { ...(run.args[number] as Record<string, unknown>) };
  };
}

function hasVariable(value: ValueNode): boolean {
  if (value.kind === Kind.VARIABLE) return true;
  if (value.kind === Kind.LIST) return value.values.some(hasVariable);
  return value.kind === Kind.OBJECT && value.fields.some((member) => hasVariable(member.value));
}
