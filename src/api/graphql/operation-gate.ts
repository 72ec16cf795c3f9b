import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  OperationTypeNode,
  type ParseOptions,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { changesCursorNow } from '../../domain/changes/change-cursor.ts';
import { chargeMinimum, chargeOperation, settle } from './charge.ts';
import { coerceVariables } from './coerce-variables.ts';
import type { GraphqlContext } from './context.ts';
import { isDeferrable, maskParts, withoutDefer } from './defer.ts';
import { findExceededLimit, parseBounded } from './document-limits.ts';
import { findExceededItemLimit } from './page-budget.ts';
import type { OperationPlan } from './plans/plan.ts';
import type { Plans } from './plans/plans.ts';
import { isIterable } from './prepare-operation.ts';
import { hideKeys, withMessage } from './quoted-keys.ts';
import { documentOf, type TrustedDocuments } from './trusted-documents.ts';
import { ownRules } from './validate-document.ts';

/** The operator's settings for operations. */
export interface GateOptions {
  readonly trusted: TrustedDocuments;
  readonly plans: Plans;
  /** True if introspection is allowed. */
  readonly isIntrospectable: boolean;
  readonly maskError: (error: unknown) => GraphQLError;
}

/**
 * The gate that every operation passes, over POST, GET, server-sent events and WebSocket. It hooks into parsing,
 * validation and execution, which all of these share, not into HTTP. Only the lookup of a trusted document starts
 * outside: at `onParams` for HTTP, in prepare-operation.ts for all other transports.
 */
export function operationGate({ trusted, plans, isIntrospectable, maskError }: GateOptions): Plugin {
  return {
    onParams({ request, params, setParams }) {
      // Yoga refuses other values, such as a batch.
      if (typeof params !== 'object' || params === null || Array.isArray(params)) return;
      const allParams = { ...params, ...(request.method === 'GET' ? namesIn(request.url) : {}) };
      const { operationName, variables, extensions } = params;
      const query = documentOf(trusted, allParams) ?? undefined;
      // Yoga refuses a value that is not a string.
      if (query !== undefined) setParams({ query, operationName, variables, extensions } as typeof params);
    },
    onParse({ setParseFn }) {
      setParseFn((source: string, options?: ParseOptions) => parseBounded(source, options));
    },
    // Runs before GraphQL's own rules and not as one of them: some of those take time quadratic in the number of
    // fields.
    onValidate({ params, setResult, addValidationRule }) {
      const error = findExceededLimit(params.documentAST as DocumentNode);
      if (error) {
        setResult([error]);
        return;
      }
      for (const rule of ownRules(isIntrospectable)) addValidationRule(rule);
      return ({ result, setResult: setErrors }) =>
        setErrors((result as GraphQLError[]).map((each) => presentProblem(each, isIntrospectable)));
    },
    async onExecute({ args, executeFn, setExecuteFn, setResultAndStopExecution }) {
      const context = args.contextValue as unknown as GraphqlContext;
      const admitted = await admit(plans, args, isIntrospectable);
      if (admitted?.errors) return setResultAndStopExecution({ errors: admitted.errors });
      const operation = getOperationAST(args.document, args.operationName)?.operation;
      const isSingleResult = !context.takesParts || !isDeferrable(operation);
      const document = isSingleResult ? withoutDefer(args.document) : args.document;
      const isSeenAgain = plans.remember(args.document);
      const compiled =
        admitted && isSeenAgain ? plans.of(document).find(args.operationName)?.compiled(admitted.variables) : null;
      if (admitted && compiled) {
        const { variables } = admitted;
        setExecuteFn((executionArgs: ExecutionArgs) =>
          compiled({ context: executionArgs.contextValue as GraphqlContext, variables }),
        );
      } else if (isSingleResult)
        setExecuteFn((executionArgs: ExecutionArgs) => executeFn({ ...executionArgs, document }));
      return {
        onExecuteDone({ result, setResult }) {
          const { ran } = context.charge;
          if (operation === OperationTypeNode.MUTATION && admitted) {
            const plan = plans.of(args.document).find(args.operationName);
            if (plan) settle(context, plan.priceOfRun(admitted.variables, ran).cost);
          }
          const { cost } = context.charge;
          if (isIterable(result)) setResult(mapParts(result, cost, maskError));
          else setResult(withCost(result as ExecutionResult, cost));
        },
      };
    },
    async onSubscribe({ args, subscribeFn, setSubscribeFn, setResultAndStopExecution }) {
      const admitted = await admit(plans, args, isIntrospectable);
      if (admitted?.errors) return setResultAndStopExecution({ errors: admitted.errors });
      const document = withoutDefer(args.document);
      setSubscribeFn((executionArgs: ExecutionArgs) => subscribeFn({ ...executionArgs, document }));
    },
  };
}

// Yoga reads only the URL parameters that GraphQL over HTTP defines.
function namesIn(url: string): Record<string, string> {
  const { query: _, variables: __, extensions: ___, ...names } = Object.fromEntries(new URL(url).searchParams);
  return names;
}

/**
 * Presents an error of GraphQL's own rules without texts that could be keys. Without introspection it also loses the
 * suggestions of other names ("Did you mean …"): they would reveal the schema piece by piece.
 */
export function presentProblem(error: GraphQLError, isIntrospectable: boolean): GraphQLError {
  const message = isIntrospectable ? error.message : error.message.replace(/ Did you mean .*\?$/s, '');
  return withMessage(error, hideKeys(message));
}

function withCost<T extends ExecutionResult>(result: T, cost: number): T {
  return { ...result, extensions: { ...result.extensions, cost } };
}

// Adds the cost to the first part.
async function* mapParts(results: AsyncIterable<ExecutionResult>, cost: number, mask: GateOptions['maskError']) {
  let isFirst = true;
  for await (const result of results) {
    yield isFirst ? withCost(result, cost) : maskParts(result, mask);
    isFirst = false;
  }
}

interface ExecutedArgs {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operationName?: string | null | undefined;
  readonly variableValues?: Record<string, unknown> | null | undefined;
  readonly contextValue?: unknown;
}

/** An operation that may run, with its coerced variables; or the errors. */
type Admission =
  | { readonly errors: readonly GraphQLError[] }
  | { readonly errors: null; readonly variables: Readonly<Record<string, unknown>> };

// The last step of the gate: it coerces the variables, checks the size of the pages, and charges the key. Null if the
// document has no such operation: the executor reports that.
async function admit(plans: Plans, args: ExecutedArgs, hasHints: boolean): Promise<Admission | null> {
  const { document, operationName, variableValues } = args;
  const context = args.contextValue as GraphqlContext;
  const plan = plans.of(document).find(operationName);
  if (!plan) {
    await chargeMinimum(context);
    return null;
  }
  context.trace?.begin(plan.operation);
  const estimate = weigh(plan, variableValues ?? {}, hasHints);
  if (estimate.errors) {
    await chargeMinimum(context);
    return estimate;
  }
  const refusal = await chargeOperation(context, estimate.cost);
  if (refusal) return { errors: [refusal] };
  // Read before any list of the operation, so that later changes come after this cursor.
  if (plan.readsChangesCursor) context.changesCursor = await changesCursorNow(context.domain.store);
  return estimate;
}

/** Coerces an operation's variables and computes its cost in points, or returns the errors in either. */
export function weigh(
  plan: OperationPlan,
  rawVariables: Readonly<Record<string, unknown>>,
  hasHints: boolean,
):
  | { readonly errors: readonly GraphQLError[] }
  | { readonly errors: null; readonly variables: Readonly<Record<string, unknown>>; readonly cost: number } {
  const { schema, operation } = plan;
  const coerced = coerceVariables({ schema, operation, rawVariables, hasHints });
  if (coerced.errors) return coerced;
  const { items, cost } = plan.price(coerced.values);
  const limitError = findExceededItemLimit(items);
  return limitError ? { errors: [limitError] } : { errors: null, variables: coerced.values, cost };
}
