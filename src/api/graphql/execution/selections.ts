import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  isNonNullType,
  type SelectionSetNode,
} from 'graphql';
import { argumentsOf, collectFields, Unsupported } from './collect-fields.ts';
import { type Compilation, infoOf, type Selections, type WriteFields } from './compilation.ts';
import { completerOf } from './complete.ts';
import { aheadResolverOf } from './read-ahead.ts';
import { type FieldInfo, fail, isPromise, later, type ResponsePosition, type Run } from './run.ts';

/** The combined selections of several fields with the same name. */
export function selectionsOf(compilation: Compilation, sets: readonly SelectionSetNode[]): Selections {
  return Object.assign(Object.create(compilation) as Compilation, {
    of: (type: GraphQLObjectType) => writerOf(compilation, type, sets),
  });
}

function writerOf(compilation: Compilation, type: GraphQLObjectType, sets: readonly SelectionSetNode[]): WriteFields {
  const groups = collectFields(compilation, type, sets);
  const writers = [...groups].map(([key, nodes]) => fieldWriter(compilation, type, key, nodes));
  return (run, source, out, position) => {
    for (const write of writers) {
      write(run, source, out, position);
      if (position.isGone) return;
    }
  };
}

function fieldWriter(
  compilation: Compilation,
  parentType: GraphQLObjectType,
  key: string,
  nodes: FieldInfo['nodes'],
): WriteFields {
  const { value: name } = nodes[0].name;
  if (name === '__typename') {
    return (_run, _source, out) => {
      out[key] = parentType.name;
    };
  }
  const definition = parentType.getFields()[name] as GraphQLField<unknown, unknown> | undefined;
  // Introspection is rare, and the plain executor supports it.
  if (!definition) throw new Unsupported(name);
  const field: FieldInfo = { nodes, name, parentType, returnType: definition.type };
  const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
  const selections = selectionsOf(compilation, sets);
  const complete = completerOf(field, selections);
  const isNullable = !isNonNullType(definition.type);
  const call = callerOf(compilation, definition, field, selections, key);
  return (run, source, out, position) => {
    let value: unknown;
    try {
      value = call(run, source, position);
    } catch (error) {
      fail(run, error, field, out, key, position, isNullable);
      return;
    }
    if (!isPromise(value)) complete(run, value, out, key, position);
    else
      later(
        run,
        value,
        complete,
        (error) => fail(run, error, field, out, key, position, isNullable),
        out,
        key,
        position,
      );
  };
}

// Returns the function that resolves a field's value.
function callerOf(
  compilation: Compilation,
  definition: GraphQLField<unknown, unknown>,
  field: FieldInfo,
  selections: Selections,
  key: string,
): (run: Run, source: unknown, position: ResponsePosition) => unknown {
  const argsOf = argumentsOf(compilation, definition, field.nodes[0]);
  const readAhead = aheadResolverOf(compilation, definition, field.nodes);
  if (readAhead) return (run, source) => readAhead(source as never, argsOf(run) as never, run.context as never, run);
  const { resolve } = definition;
  // Only a resolver with four parameters gets the `info` argument.
  if (resolve && resolve.length > 3) {
    return (run, source, position) =>
      resolve(source, argsOf(run), run.context, infoOf(selections, field, run, position, key));
  }
  if (resolve) return (run, source) => resolve(source, argsOf(run), run.context, noInfo);
  return (run, source, position) => {
    const value = (source as Record<string, unknown> | null | undefined)?.[field.name];
    if (typeof value !== 'function') return value;
    return value.call(source, argsOf(run), run.context, infoOf(selections, field, run, position, key));
  };
}

const noInfo = undefined as unknown as GraphQLResolveInfo;
