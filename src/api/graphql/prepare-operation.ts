import { type DocumentNode, type ExecutionArgs, type ExecutionResult, GraphQLError, getOperationAST } from 'graphql';
import type { YogaServerInstance } from 'graphql-yoga';
import { chargeMinimum, refusalOf } from './charge.ts';
import type { GraphqlContext } from './context.ts';
import { documentOf, type TrustedDocuments } from './trusted-documents.ts';

/** The outcome of an operation: one result, or several. */
export type OperationResult = ExecutionResult | AsyncIterable<ExecutionResult>;

/** Returns true if an operation gives several results. */
export function isIterable(result: unknown): result is AsyncIterable<ExecutionResult> {
  return typeof result === 'object' && result !== null && Symbol.asyncIterator in result;
}

/** The executor of operations. */
export interface Engine {
  // biome-ignore lint/suspicious/noExplicitAny: the server context is not used beside HTTP
  readonly yoga: YogaServerInstance<any, any>;
  readonly trusted: TrustedDocuments;
}

/** An operation that passed the gate and may run, or its errors. */
export type PreparedOperation =
  | { readonly errors: readonly GraphQLError[] }
  | {
      readonly errors: null;
      readonly args: ExecutionArgs;
      readonly execute: (args: ExecutionArgs) => Promise<OperationResult>;
      readonly subscribe: (args: ExecutionArgs) => Promise<OperationResult>;
    };

/**
 * Passes an operation that did not come by an ordinary HTTP request through the gate: the same parsing, rules and
 * limits.
 */
export async function prepareOperation(
  { yoga, trusted }: Engine,
  context: GraphqlContext,
  params: Readonly<Record<string, unknown>>,
): Promise<PreparedOperation> {
  const { schema, execute, subscribe, contextFactory, parse, validate } = yoga.getEnveloped({ ...context, params });
  try {
    const query = documentOf(trusted, params);
    if (query === null) {
      throw new GraphQLError('The operation must have a "query", or name a trusted document by its "documentId".', {
        extensions: { code: 'BAD_REQUEST' },
      });
    }
    const { operationName, variables } = paramsOf(params);
    const document = parse(query) as DocumentNode;
    const errors = validate(schema, document) as readonly GraphQLError[];
    if (errors.length > 0) return { errors: await orTooMany(context, errors) };
    if (!getOperationAST(document, operationName as string | undefined)) {
      throw new GraphQLError('The document must have the operation that "operationName" names.', {
        extensions: { code: 'BAD_REQUEST' },
      });
    }
    const contextValue = await contextFactory();
    const args = { schema, document, operationName, variableValues: variables, contextValue } as ExecutionArgs;
    return { errors: null, args, execute, subscribe } as PreparedOperation;
  } catch (error) {
    // A parse error is this operation's error.
    if (error instanceof GraphQLError) return { errors: await orTooMany(context, [error]) };
    throw error;
  }
}

function paramsOf({ operationName, variables }: Readonly<Record<string, unknown>>) {
  const isObject = typeof (variables ?? {}) === 'object' && !Array.isArray(variables);
  if (isObject && typeof (operationName ?? '') === 'string') return { operationName, variables };
  throw new GraphQLError('"variables" must be an object, and "operationName" a text.', {
    extensions: { code: 'BAD_REQUEST' },
  });
}

// Operations that do not run are charged too, or a client could send them for free without end.
async function orTooMany(context: GraphqlContext, errors: readonly GraphQLError[]): Promise<readonly GraphQLError[]> {
  await chargeMinimum(context);
  const refusal = refusalOf(context.charge);
  return refusal ? [refusal] : errors.map(withoutHttp);
}

// Removes what Yoga adds for HTTP. The errors themselves are in Yoga's cache and must not be changed.
function withoutHttp(error: GraphQLError): GraphQLError {
  const { http: _, ...extensions } = error.extensions;
  const { nodes, source, positions, path } = error;
  const location = { nodes: nodes ?? null, source: source ?? null, positions: positions ?? null, path: path ?? null };
  return new GraphQLError(error.message, { ...location, extensions });
}
