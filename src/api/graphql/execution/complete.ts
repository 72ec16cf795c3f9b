import {
  type GraphQLAbstractType,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLScalarType,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  specifiedScalarTypes,
} from 'graphql';
import { infoOf, type Selections } from './compilation.ts';
import {
  badValue,
  type Complete,
  type Container,
  type FieldInfo,
  fail,
  failNull,
  isPromise,
  later,
  type ResponsePosition,
  type Run,
} from './run.ts';
import { findRuntimeType } from './runtime-type.ts';

/** Returns the function that completes a field's value. Everything in its type is looked up once. */
export function completerOf(field: FieldInfo, selections: Selections): Complete {
  return completeAs(field, field.returnType, selections);
}

function completeAs(field: FieldInfo, outputType: GraphQLOutputType, selections: Selections): Complete {
  const isNullable = !isNonNullType(outputType);
  const type = isNonNullType(outputType) ? (outputType.ofType as GraphQLOutputType) : outputType;
  if (isLeafType(type)) return completeLeaf(field, type, isNullable);
  if (isListType(type)) return completeList(field, completeAs(field, type.ofType, selections), type.ofType, isNullable);
  if (isAbstractType(type)) return completeAbstract(field, type, isNullable, selections);
  return completeObject(field, type as GraphQLObjectType, isNullable, selections);
}

// Handles null and returned errors, the first step for every type. Returns true if nothing is left to do.
function isDone(
  run: Run,
  value: unknown,
  field: FieldInfo,
  out: Container,
  key: string | number,
  above: ResponsePosition,
  isNullable: boolean,
): value is null | undefined | Error {
  if (value === null || value === undefined) {
    if (isNullable) out[key] = null;
    else failNull(run, field, out, key, above);
    return true;
  }
  if (!(value instanceof Error)) return false;
  fail(run, value, field, out, key, above, isNullable);
  return true;
}

const textTypes = new Set(
  specifiedScalarTypes.filter(({ name }) => name === 'String' || name === 'ID').map(({ name }) => name),
);

function completeLeaf(field: FieldInfo, type: GraphQLLeafType, isNullable: boolean): Complete {
  const isText = type instanceof GraphQLScalarType && textTypes.has(type.name);
  const isTruth = type.name === 'Boolean';
  return (run, value, out, key, above) => {
    // Values that GraphQL's own scalars serialize unchanged.
    if ((isText && typeof value === 'string') || (isTruth && typeof value === 'boolean')) {
      out[key] = value;
      return;
    }
    if (isDone(run, value, field, out, key, above, isNullable)) return;
    try {
      const written: unknown = type.serialize(value);
      if (written === null || written === undefined) {
        throw badValue(`Expected "${type.name}" to be written as a value, but it gave none.`);
      }
      out[key] = written;
    } catch (error) {
      fail(run, error, field, out, key, above, isNullable);
    }
  };
}

function completeList(field: FieldInfo, item: Complete, type: GraphQLOutputType, isNullable: boolean): Complete {
  const isItemNullable = !isNonNullType(type);
  return (run, value, out, key, above) => {
    if (isDone(run, value, field, out, key, above, isNullable)) return;
    if (typeof value !== 'object' || !(Symbol.iterator in value)) {
      const message = `Expected Iterable, but did not find one for field "${field.parentType.name}.${field.name}".`;
      fail(run, badValue(message), field, out, key, above, isNullable);
      return;
    }
    const list: unknown[] = [];
    const into = list as unknown as Container;
    const position: ResponsePosition = { above, container: out, key, isNullable, isGone: false };
    out[key] = list;
    let n = 0;
    for (const each of value as Iterable<unknown>) {
      const at = n++;
      // Reserves the index: V8 stores into an existing array element many times faster than past the end.
      list.push(null);
      if (isPromise(each)) {
        later(
          run,
          each,
          item,
          (error) => fail(run, error, field, into, at, position, isItemNullable),
          into,
          at,
          position,
        );
      } else item(run, each, into, at, position);
      if (position.isGone) return;
    }
  };
}

function completeObject(
  field: FieldInfo,
  type: GraphQLObjectType,
  isNullable: boolean,
  selections: Selections,
): Complete {
  // Computed on first use: a type may contain itself, and most types of an interface never occur.
  let fields: ReturnType<Selections['of']> | null = null;
  const { isTypeOf } = type;
  const write = (run: Run, value: unknown, out: Container, key: string | number, above: ResponsePosition) => {
    fields ??= selections.of(type);
    const object: Container = {};
    out[key] = object;
    fields(run, value, object, { above, container: out, key, isNullable, isGone: false });
  };
  if (!isTypeOf) {
    return (run, value, out, key, above) => {
      if (!isDone(run, value, field, out, key, above, isNullable)) write(run, value, out, key, above);
    };
  }
  const check = (
    run: Run,
    value: unknown,
    is: boolean,
    out: Container,
    key: string | number,
    above: ResponsePosition,
  ) => {
    if (is) write(run, value, out, key, above);
    else {
      fail(run, badValue(`Expected value of type "${type.name}" but got another.`), field, out, key, above, isNullable);
    }
  };
  return (run, value, out, key, above) => {
    if (isDone(run, value, field, out, key, above, isNullable)) return;
    try {
      const is = isTypeOf(value, run.context, infoOf(selections, field, run, above, key));
      if (!isPromise(is)) check(run, value, is, out, key, above);
      else {
        const refuse = (error: unknown) => fail(run, error, field, out, key, above, isNullable);
        later(run, is, (_run, found) => check(run, value, found === true, out, key, above), refuse, out, key, above);
      }
    } catch (error) {
      fail(run, error, field, out, key, above, isNullable);
    }
  };
}

function completeAbstract(
  field: FieldInfo,
  type: GraphQLAbstractType,
  isNullable: boolean,
  selections: Selections,
): Complete {
  const byType = new Map<GraphQLObjectType, Complete>();
  const write = (
    run: Run,
    value: unknown,
    name: unknown,
    out: Container,
    key: string | number,
    above: ResponsePosition,
  ) => {
    const found = findRuntimeType(selections.schema, type, name);
    if (found instanceof Error) {
      fail(run, found, field, out, key, above, isNullable);
      return;
    }
    let complete = byType.get(found);
    if (!complete) {
      complete = completeObject(field, found, isNullable, selections);
      byType.set(found, complete);
    }
    complete(run, value, out, key, above);
  };
  const resolveType = type.resolveType ?? selections.resolveType;
  return (run, value, out, key, above) => {
    if (isDone(run, value, field, out, key, above, isNullable)) return;
    try {
      const name = resolveType(value, run.context, infoOf(selections, field, run, above, key), type);
      if (!isPromise(name)) write(run, value, name, out, key, above);
      else {
        const refuse = (error: unknown) => fail(run, error, field, out, key, above, isNullable);
        later(run, name, (_run, typeName) => write(run, value, typeName, out, key, above), refuse, out, key, above);
      }
    } catch (error) {
      fail(run, error, field, out, key, above, isNullable);
    }
  };
}
