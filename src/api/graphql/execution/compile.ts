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

/** What an operation is run with. */
export interface RunInput {
  /** What resolvers get as their context. */
  readonly context: unknown;
  /** As the operation sees them: coerced, with its defaults. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** The event, of a subscription. */
  readonly rootValue?: unknown;
  /** What several runs with the same variables read of arguments: empty at first. */
  readonly args?: unknown[];
}

/** An operation ready to run: at once where nothing is to be waited for. */
export type CompiledOperation = (input: RunInput) => ExecutionResult | Promise<ExecutionResult>;

/** What is compiled. */
export interface CompileInput {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** The values of the variables that `@skip` and `@include` ask for. */
  readonly conditions: Readonly<Record<string, boolean>>;
}

/**
 * Makes functions of a valid query, or of what a subscription does with an event: what the document and the schema say is
 * looked up once, and what is left for each run is to call resolvers and to write. The answers are those of the plain
 * executor. Null for what is left to that: mutations, introspection, `@defer`.
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
