import { type FieldNode, type GraphQLField, type GraphQLObjectType, getNamedType, isObjectType } from 'graphql';
import { argumentsOf, collectFields } from './collect-fields.ts';
import type { Compilation } from './compilation.ts';
import type { Run } from './run.ts';

/** A requested field, with the fields below it. */
export interface RequestedField {
  readonly name: string;
  /** Its arguments in a run, as its resolver gets them; throws for an invalid value. */
  argsIn(run: Run): Readonly<Record<string, unknown>>;
  /** The fields below it, regardless of aliases; empty if its type is not an object type. */
  readonly fields: readonly RequestedField[];
}

/** A resolver that also gets the run, for {@link RequestedField.argsIn}. */
export type AheadResolver = (source: never, args: never, context: never, run: Run) => unknown;

/**
 * A field may read the fields below it together with itself. For each compiled operation, `readAhead` gets the
 * requested fields and returns a special resolver, or null to use the normal one. The response is the same: the
 * resolvers below still check the viewer's permissions, and read whatever was not read before.
 */
export interface ReadingAhead {
  readonly readAhead: (field: RequestedField) => AheadResolver | null;
}

/** The `extensions` of a field that reads ahead. */
export const readingAhead = (readAhead: ReadingAhead['readAhead']): ReadingAhead & Record<string, unknown> => ({
  readAhead,
});

/** Finds fields by a path of names below a field: `beneath(sessions, 'edges', 'node')`. */
export function beneath(field: RequestedField, ...names: readonly string[]): readonly RequestedField[] {
  return names.reduce<readonly RequestedField[]>(
    (fields, name) => fields.flatMap(({ fields: inner }) => inner.filter((each) => each.name === name)),
    [field],
  );
}

/** The resolver that reads ahead for the fields below a field; null if there is none. */
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
