import { type FieldNode, GraphQLError, type GraphQLObjectType, type GraphQLOutputType, locatedError } from 'graphql';

/** A container of the response: an object's fields by name, or a list's items by index. */
export type Container = Record<string | number, unknown>;

/**
 * A container with its position in the response. Values are written directly to their position as they arrive; if an
 * error makes a position null, it is overwritten there. So an object whose fields are still pending needs no promise.
 */
export interface ResponsePosition {
  /** Null: the data itself. */
  readonly above: ResponsePosition | null;
  readonly container: Container;
  readonly key: string | number;
  readonly isNullable: boolean;
  /** True if null has replaced it or one of its parents. */
  isGone: boolean;
}

/** One execution of an operation. */
export interface Run {
  /** The context of resolvers. */
  readonly context: unknown;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly rootValue: unknown;
  readonly errors: GraphQLError[];
  /** Values of arguments that depend on variables, by the field's number: they are equal for all items of a list. */
  readonly args: unknown[];
  /** The number of pending promises. */
  pending: number;
  resolve: (() => void) | null;
  reject: ((error: unknown) => void) | null;
}

/** A field, as errors refer to it. */
export interface FieldInfo {
  readonly nodes: readonly [FieldNode, ...FieldNode[]];
  readonly name: string;
  readonly parentType: GraphQLObjectType;
  readonly returnType: GraphQLOutputType;
}

/**
 * Writes a value to its position in the response according to its type. Never throws: problems become errors of the
 * run.
 */
export type Complete = (
  run: Run,
  value: unknown,
  out: Container,
  key: string | number,
  above: ResponsePosition,
) => void;

/** Returns true for a promise. The database and the resolvers return no other thenables. */
export function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}

/** The response path of `key` below a position. */
export function pathOf(above: ResponsePosition, key: string | number): (string | number)[] {
  const path = [key];
  for (let position = above; position.above !== null; position = position.above) path.push(position.key);
  return path.reverse();
}

/** Records an error and writes null: at its position, or at the nearest nullable position above it. */
export function fail(
  run: Run,
  error: unknown,
  field: FieldInfo,
  out: Container,
  key: string | number,
  above: ResponsePosition,
  isNullable: boolean,
): void {
  if (isGone(above)) return;
  run.errors.push(locatedError(error, field.nodes, pathOf(above, key)));
  if (isNullable) {
    out[key] = null;
    return;
  }
  let position = above;
  while (!position.isNullable && position.above !== null) {
    position.isGone = true;
    position = position.above;
  }
  position.isGone = true;
  position.container[position.key] = null;
}

/** Records the error for a null value of a non-null type. */
export function failNull(
  run: Run,
  field: FieldInfo,
  out: Container,
  key: string | number,
  above: ResponsePosition,
): void {
  const message = `Cannot return null for non-nullable field ${field.parentType.name}.${field.name}.`;
  fail(run, new Error(message), field, out, key, above, false);
}

function isGone(position: ResponsePosition): boolean {
  for (let each: ResponsePosition | null = position; each !== null; each = each.above) if (each.isGone) return true;
  return false;
}

/** Continues with a promise's value when it resolves. */
export function later(
  run: Run,
  promise: Promise<unknown>,
  complete: Complete,
  refuse: (error: unknown) => void,
  out: Container,
  key: string | number,
  above: ResponsePosition,
): void {
  // Reserves the field's position in the response.
  out[key] = null;
  run.pending++;
  promise.then(
    (value) => settle(run, () => isGone(above) || complete(run, value, out, key, above)),
    (error: unknown) => settle(run, () => refuse(error)),
  );
}

function settle(run: Run, go: () => unknown): void {
  try {
    go();
  } catch (error) {
    run.reject?.(error);
  }
  if (--run.pending === 0) run.resolve?.();
}

/** An error for an invalid value, with GraphQL's message. */
export function badValue(message: string): GraphQLError {
  return new GraphQLError(message);
}
