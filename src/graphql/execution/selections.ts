import {
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getArgumentValues,
  isAbstractType,
  isNonNullType,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';
import { type Compilation, infoOf, type Selections, type WriteFields } from './compilation.ts';
import { completerOf } from './complete.ts';
import { type FieldInfo, fail, isPromise, later, type Place, type Run } from './run.ts';

/** Thrown for what is left to the plain executor. */
export class Unsupported extends Error {}

/** What several fields of one name select together. */
export function selectionsOf(compilation: Compilation, sets: readonly SelectionSetNode[]): Selections {
  return Object.assign(Object.create(compilation) as Compilation, {
    of: (type: GraphQLObjectType) => writerOf(compilation, type, sets),
  });
}

type Groups = Map<string, FieldNode[]>;

function writerOf(compilation: Compilation, type: GraphQLObjectType, sets: readonly SelectionSetNode[]): WriteFields {
  const groups: Groups = new Map();
  const seen = new Set<string>();
  for (const set of sets) collect(compilation, type, set, groups, seen);
  const writers = [...groups].map(([key, nodes]) => fieldWriter(compilation, type, key, nodes));
  return (run, source, out, place) => {
    for (const write of writers) {
      write(run, source, out, place);
      if (place.isGone) return;
    }
  };
}

function collect(
  compilation: Compilation,
  type: GraphQLObjectType,
  set: SelectionSetNode,
  groups: Groups,
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
  const asked = schema.getType(condition);
  return isAbstractType(asked) && schema.isSubType(asked, type);
}

function isIncluded({ conditions }: Compilation, { directives = [] }: SelectionNode): boolean {
  for (const { name, arguments: given = [] } of directives) {
    if (name.value !== 'skip' && name.value !== 'include') throw new Unsupported(`@${name.value}`);
    const value = given.find((argument) => argument.name.value === 'if')?.value;
    const truth =
      value?.kind === Kind.VARIABLE ? conditions[value.name.value] : value?.kind === Kind.BOOLEAN && value.value;
    if (truth === undefined) throw new Unsupported(`the condition of @${name.value}`);
    if (truth === (name.value === 'skip')) return false;
  }
  return true;
}

function fieldWriter(
  compilation: Compilation,
  parentType: GraphQLObjectType,
  key: string,
  nodes: readonly FieldNode[],
): WriteFields {
  const [node] = nodes as [FieldNode];
  const { value: name } = node.name;
  if (name === '__typename') {
    return (_run, _source, out) => {
      out[key] = parentType.name;
    };
  }
  const definition = parentType.getFields()[name] as GraphQLField<unknown, unknown> | undefined;
  // Introspection is seldom, and the plain executor knows how.
  if (!definition) throw new Unsupported(name);
  const field: FieldInfo = { nodes, name, parentType, returnType: definition.type };
  const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
  const selections = selectionsOf(compilation, sets);
  const complete = completerOf(field, selections);
  const isNullable = !isNonNullType(definition.type);
  const argsOf = argumentsOf(compilation, definition, node);
  const { resolve } = definition;
  // Only who asks for it is told where in the operation it is.
  const infoFor = (run: Run, place: Place) =>
    resolve && resolve.length > 3
      ? infoOf(selections, field, run, place, key)
      : (undefined as unknown as GraphQLResolveInfo);
  const call = (run: Run, source: unknown, place: Place): unknown => {
    if (resolve) return resolve(source, argsOf(run), run.context, infoFor(run, place));
    const value = (source as Record<string, unknown> | null | undefined)?.[name];
    if (typeof value !== 'function') return value;
    return value.call(source, argsOf(run), run.context, infoOf(selections, field, run, place, key));
  };
  return (run, source, out, place) => {
    let value: unknown;
    try {
      value = call(run, source, place);
    } catch (error) {
      fail(run, error, field, out, key, place, isNullable);
      return;
    }
    if (!isPromise(value)) complete(run, value, out, key, place);
    else later(run, value, complete, (error) => fail(run, error, field, out, key, place, isNullable), out, key, place);
  };
}

// Those without variables are read once, the others once for each run.
function argumentsOf(compilation: Compilation, definition: GraphQLField<unknown, unknown>, node: FieldNode) {
  if (definition.args.length === 0) return () => ({});
  if (!node.arguments?.some(({ value }) => hasVariable(value))) {
    const args = getArgumentValues(definition, node);
    return () => ({ ...args });
  }
  const number = compilation.numbers.next++;
  return (run: Run): Record<string, unknown> => {
    run.args[number] ??= getArgumentValues(definition, node, run.variables);
    return { ...(run.args[number] as Record<string, unknown>) };
  };
}

function hasVariable(value: ValueNode): boolean {
  if (value.kind === Kind.VARIABLE) return true;
  if (value.kind === Kind.LIST) return value.values.some(hasVariable);
  return value.kind === Kind.OBJECT && value.fields.some((member) => hasVariable(member.value));
}
