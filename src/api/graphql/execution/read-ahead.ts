import { type FieldNode, type GraphQLField, type GraphQLObjectType, getNamedType, isObjectType } from 'graphql';
import { argumentsOf, collectFields } from './collect-fields.ts';
import type { Compilation } from './compilation.ts';
import type { Run } from './run.ts';

/** A field that an operation asks for, and what it asks for beneath it. */
export interface RequestedField {
  readonly name: string;
  /** Its arguments in a run, as its resolver gets them; throws where a value is none for its argument. */
  argsIn(run: Run): Readonly<Record<string, unknown>>;
  /** What is asked for beneath it, whatever it is called in the answer; nothing where its type is no object type. */
  readonly fields: readonly RequestedField[];
}

/** A resolver that also sees the run, for {@link RequestedField.argsIn}. */
export type AheadResolver = (source: never, args: never, context: never, run: Run) => unknown;

/**
 * A field may read what its operation asks for beneath it together with itself: it has another resolver for each operation
 * that is compiled, given what that asks for, or null where its own will do. It is a shorter way to the same answer: the
 * resolvers beneath decide as ever what the viewer may have, and read themselves what was not read before.
 */
export interface ReadingAhead {
  readonly readAhead: (field: RequestedField) => AheadResolver | null;
}

/** The `extensions` of a field that reads ahead. */
export const readingAhead = (readAhead: ReadingAhead['readAhead']): ReadingAhead & Record<string, unknown> => ({
  readAhead,
});

/** The fields of these names beneath a field, one name a level: `beneath(sessions, 'edges', 'node')`. */
export function beneath(field: RequestedField, ...names: readonly string[]): readonly RequestedField[] {
  return names.reduce<readonly RequestedField[]>(
    (fields, name) => fields.flatMap(({ fields: inner }) => inner.filter((each) => each.name === name)),
    [field],
  );
}

/** The resolver that reads ahead for what is asked for beneath a field; null: it has none for that. */
export function aheadResolverOf(
  compilation: Compilation,
  definition: GraphQLField<unknown, unknown>,
  nodes: readonly [FieldNode, ...FieldNode[]],
): AheadResolver | null {
  const { readAhead } = definition.extensions as Partial<ReadingAhead>;
  return readAhead?.(requestedField(compilation, definition, nodes)) ?? null;
}

function requestedField(
  compilation: Compilation,
  definition: GraphQLField<unknown, unknown>,
  nodes: readonly [FieldNode, ...FieldNode[]],
): RequestedField {
  const type = getNamedType(definition.type);
  return {
    name: definition.name,
    argsIn: argumentsOf(compilation, definition, nodes[0]),
    get fields() {
      return isObjectType(type) ? requestedFieldsOf(compilation, type, nodes) : [];
    },
  };
}

function requestedFieldsOf(
  compilation: Compilation,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
): readonly RequestedField[] {
  const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
  const fields = type.getFields();
  return [...collectFields(compilation, type, sets).values()].flatMap((group) => {
    const definition = fields[group[0].name.value];
    return definition ? [requestedField(compilation, definition, group)] : [];
  });
}
