import {
  defaultTypeResolver,
  type ExecutionResult,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { Unsupported } from './collect-fields.ts';
import type { Compilation } from './compilation.ts';
import type { ResponsePosition, Run } from './run.ts';
import { selectionsOf } from './selections.ts';

/** The input of a run. */
export interface RunInput {
  /** The context of resolvers. */
  readonly context: unknown;
  /** Coerced, with defaults. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** The event of a subscription. */
  readonly rootValue?: unknown;
  /** Argument values that several runs with the same variables share: empty at first. */
  readonly args?: unknown[];
}

/** A compiled operation: synchronous if there is nothing to wait for. */
export type CompiledOperation = (input: RunInput) => ExecutionResult | Promise<ExecutionResult>;

/** The input of the compiler. */
export interface CompileInput {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** The values of the variables in `@skip` and `@include`. */
  readonly conditions: Readonly<Record<string, boolean>>;
}

/**
 * Compiles a valid query, or the execution of a subscription's event, to functions. Everything in the document and the
 * schema is looked up once; a run only calls resolvers and writes. The responses equal those of the plain executor.
 * Null for operations that only the plain executor supports: mutations, introspection, `@defer`.
 */
export function compileOperation({ schema, operation, fragments, conditions }: CompileInput): CompiledOperation | null {
  const type = schema.getRootType(operation.operation);
  if (!type || operation.operation === 'mutation') return null;
  const compilation: Compilation = {
    schema,
    operation,
    fragments,
    conditions,
    resolveType: defaultTypeResolver,
    numbers: { next: 0 },
  };
  try {
    const write = selectionsOf(compilation, [operation.selectionSet]).of(type);
    return (input) => start(input, write);
  } catch (error) {
    if (error instanceof Unsupported) return null;
    throw error;
  }
}

function start(
  { context, variables, rootValue, args = [] }: RunInput,
  write: ReturnType<ReturnType<typeof selectionsOf>['of']>,
): ExecutionResult | Promise<ExecutionResult> {
  const answer: { data: Record<string, unknown> | null } = { data: {} };
  const position: ResponsePosition = {
    above: null,
    container: answer as never,
    key: 'data',
    isNullable: true,
    isGone: false,
  };
  const run: Run = { context, variables, rootValue, errors: [], args, pending: 0, resolve: null, reject: null };
  const finish = (): ExecutionResult => (run.errors.length > 0 ? { errors: run.errors, data: answer.data } : answer);
  write(run, rootValue, answer.data as Record<string, unknown>, position);
  if (run.pending === 0) return finish();
  return new Promise((resolve, reject) => {
    run.resolve = () => resolve(finish());
    run.reject = reject;
  });
}
