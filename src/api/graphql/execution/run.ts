import { type FieldNode, GraphQLError, type GraphQLObjectType, type GraphQLOutputType, locatedError } from 'graphql';

/** Where an answer is put together: an object's fields by their names, a list's items by their numbers. */
export type Container = Record<string | number, unknown>;

/**
 * A value that holds others, at its place in the answer. An answer is written where it belongs as it comes, and what must
 * be null after all is made null there: no promise is needed for an object whose fields are still to come.
 */
export interface ResponsePosition {
  /** Null: the data itself. */
  readonly above: ResponsePosition | null;
  readonly container: Container;
  readonly key: string | number;
  readonly isNullable: boolean;
  /** Null has taken its place, or that of what holds it. */
  isGone: boolean;
}

/** One execution of an operation. */
export interface Run {
  /** What resolvers get as their context. */
  readonly context: unknown;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly rootValue: unknown;
  readonly errors: GraphQLError[];
  /** The arguments of fields that depend on variables, by the fields' numbers: alike wherever a field stands in a list. */
  readonly args: unknown[];
  /** What is waited for. */
  pending: number;
  resolve: (() => void) | null;
  reject: ((error: unknown) => void) | null;
}

/** A field as errors know it. */
export interface FieldInfo {
  readonly nodes: readonly [FieldNode, ...FieldNode[]];
  readonly name: string;
  readonly parentType: GraphQLObjectType;
  readonly returnType: GraphQLOutputType;
}

/** Writes a value at its place in the answer, as its type wants it. Never throws: what goes wrong is an error of the run. */
export type Complete = (
  run: Run,
  value: unknown,
  out: Container,
  key: string | number,
  above: ResponsePosition,
) => void;

/** Whether something is a promise; values of the database and of resolvers are no other thenables. */
export function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}

/** The path of what lies at `key` of a place. */
export function pathOf(above: ResponsePosition, key: string | number): (string | number)[] {
  const path = [key];
  for (let position = above; position.above !== null; position = position.above) path.push(position.key);
  return path.reverse();
}

/** Notes an error, and writes null where it belongs: there, or at the nearest place above that takes null. */
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

/** Notes that a value is null where its type has none. */
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

/** Goes on with a promise's value when it comes. */
export function later(
  run: Run,
  promise: Promise<unknown>,
  complete: Complete,
  refuse: (error: unknown) => void,
  out: Container,
  key: string | number,
  above: ResponsePosition,
): void {
  // It holds the place in the order of the answer.
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

/** An error of what is no value of its type, in GraphQL's words. */
export function badValue(message: string): GraphQLError {
  return new GraphQLError(message);
}
