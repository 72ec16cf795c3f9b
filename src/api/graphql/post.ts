import { type ExecutionResult, GraphQLError, type OperationDefinitionNode } from 'graphql';
import type { YogaServerInstance } from 'graphql-yoga';
import type { Reply } from '../../http/reply.ts';
import type { RequestView } from '../../http/request-view.ts';
import { charged, notAcceptable } from './answers.ts';
import { chargeMinimum, chargeOperation } from './charge.ts';
import type { GraphqlContext } from './context.ts';
import type { CompiledOperation } from './execution/index.ts';
import { type GateOptions, weigh } from './operation-gate.ts';
import { isIterable } from './prepare-operation.ts';
import { type ResultType, resultReply, resultTypeOf } from './result-reply.ts';
import { documentOf } from './trusted-documents.ts';

/** Answers a POST whose response is one result in JSON. The caller is authenticated and `text` is the body. */
export type PostHandler = (request: RequestView, text: string, context: GraphqlContext) => Promise<Reply>;

/** Options of {@link createPostHandler}: those of the gate, and the server that runs what is not compiled. */
export interface PostOptions extends GateOptions {
  readonly yoga: Pick<YogaServerInstance<GraphqlContext, object>, 'getResultForParams'>;
}

type Params = Readonly<Record<string, unknown>>;

/** Yoga's plugins read nothing of the request but its method. */
const anyPost = new Request('http://localhost/graphql', { method: 'POST' });

/**
 * Creates a {@link PostHandler}. A query that has passed the gate before, and is compiled, runs at once; every other
 * operation, and every error, goes through the hooks of the gate in Yoga.
 */
export function createPostHandler(options: PostOptions): PostHandler {
  const { yoga, maskError } = options;

  const runByYoga = async (params: Params, context: GraphqlContext): Promise<ExecutionResult | null> => {
    try {
      const result = await yoga.getResultForParams({ params, request: anyPost }, context);
      return result === undefined || isIterable(result) ? null : result;
    } catch (error) {
      return { errors: [maskError(error)] };
    } finally {
      // A request without an operation costs the minimum.
      await chargeMinimum(context);
    }
  };

  const runCompiled = async (ready: Ready, context: GraphqlContext): Promise<ExecutionResult> => {
    const { run, variables, cost, operation } = ready;
    context.trace?.begin(operation);
    const refusal = await chargeOperation(context, cost);
    if (refusal) return { errors: [refusal] };
    const running = run({ context, variables });
    const result = running instanceof Promise ? await running : running;
    const { errors, data } = result;
    return { ...(errors && { errors: errors.map(maskError) }), data: data ?? null, extensions: { cost } };
  };

  const run = async (text: string, context: GraphqlContext): Promise<ExecutionResult | null> => {
    const params = readParams(text);
    if (params instanceof GraphQLError) {
      await chargeMinimum(context);
      return { errors: [params] };
    }
    const ready = findReady(options, params);
    return ready === null ? runByYoga(params, context) : runCompiled(ready, context);
  };

  const replyWith = (result: ExecutionResult, type: ResultType): Reply => {
    try {
      return resultReply(result, type);
    } catch (error) {
      // The result exceeds the maximum length of a string.
      const { extensions } = result;
      return resultReply({ errors: [maskError(error)], ...(extensions && { extensions }) }, type);
    }
  };

  return async (request, text, context) => {
    const result = await run(text, context);
    context.trace?.end(result);
    const type = resultTypeOf(request.header('accept'));
    return charged(result === null || type === null ? notAcceptable() : replyWith(result, type), context.charge);
  };
}

/** Reads the JSON of a body; the members are checked later. Returns the error if it is not an object. */
function readParams(text: string): Params | GraphQLError {
  let params: unknown;
  try {
    params = JSON.parse(text);
  } catch (error) {
    const { name, message } = error as SyntaxError;
    const originalError = { name, message };
    return badRequest('POST body sent invalid JSON.', { http: { spec: true, status: 400 }, originalError });
  }
  if (Array.isArray(params)) return badRequest('Batching is not supported.');
  if (typeof params === 'object' && params !== null) return params as Params;
  return badRequest(`POST body is expected to be object but received ${params === null ? params : typeof params}`);
}

function badRequest(message: string, more: object = { http: { status: 400 } }): GraphQLError {
  return new GraphQLError(message, { extensions: { code: 'BAD_REQUEST', ...more } });
}

/** A compiled query that may run. */
interface Ready {
  readonly operation: OperationDefinitionNode;
  readonly run: CompiledOperation;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly cost: number;
}

/** The members of a request that identify the operation and do nothing else. */
const names = new Set(['query', 'variables', 'operationName', 'extensions', 'documentId', 'doc_id', 'id']);

/** Returns the query to run if it is known and passes the whole gate; otherwise null. */
function findReady({ plans, trusted, isIntrospectable }: PostOptions, params: Params): Ready | null {
  for (const name of Object.keys(params)) if (!names.has(name)) return null;
  const { operationName, variables, extensions } = params;
  const isName = operationName == null || typeof operationName === 'string';
  if (!isName || !isObject(variables) || !isObject(extensions)) return null;
  const text = textOf(trusted, params);
  const plan = text === null ? null : (plans.find(text)?.find(operationName) ?? null);
  if (plan === null || plan.operation.operation !== 'query') return null;
  const estimate = weigh(plan, (variables ?? {}) as Params, isIntrospectable);
  if (estimate.errors) return null;
  const run = plan.compiled(estimate.variables);
  return run && { operation: plan.operation, run, variables: estimate.variables, cost: estimate.cost };
}

const isObject = (value: unknown) => value == null || (typeof value === 'object' && !Array.isArray(value));

function textOf(trusted: PostOptions['trusted'], params: Params): string | null {
  try {
    return documentOf(trusted, params);
  } catch {
    return null;
  }
}
