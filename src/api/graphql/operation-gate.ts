import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  GraphQLError,
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
import type { OperationPlan } from './execution/plan.ts';
import type { Plans } from './execution/plans.ts';
import { findExceededItemLimit } from './page-budget.ts';
import { isIterable } from './prepare-operation.ts';
import { documentOf, type TrustedDocuments } from './trusted-documents.ts';
import { ownRules } from './validate-document.ts';

/** What the operator decides about operations. */
export interface GateOptions {
  readonly trusted: TrustedDocuments;
  readonly plans: Plans;
  /** Whether the schema may be asked for. */
  readonly isIntrospectable: boolean;
  readonly maskError: (error: unknown) => GraphQLError;
}

/**
 * The gate that every operation passes, by POST, GET, server-sent events and WebSocket alike: it hooks into parsing,
 * validating and running, which all of them share, not into HTTP. Only the way to a trusted document begins outside it:
 * at `onParams` for HTTP, in prepare-operation.ts for all others.
 */
export function operationGate({ trusted, plans, isIntrospectable, maskError }: GateOptions): Plugin {
  return {
    onParams({ request, params, setParams }) {
      // What is no object, as a batch, is refused by Yoga.
      if (typeof params !== 'object' || params === null || Array.isArray(params)) return;
      const allParams = { ...params, ...(request.method === 'GET' ? namesIn(request.url) : {}) };
      const { operationName, variables, extensions } = params;
      const query = documentOf(trusted, allParams) ?? undefined;
      // A text that is none is for Yoga to refuse.
      if (query !== undefined) setParams({ query, operationName, variables, extensions } as typeof params);
    },
    onParse({ setParseFn }) {
      setParseFn((source: string, options?: ParseOptions) => parseBounded(source, options));
    },
    // Before GraphQL's own rules, not as one of them: the time of some grows with the square of a document's fields.
    onValidate({ params, setResult, addValidationRule }) {
      const error = findExceededLimit(params.documentAST as DocumentNode);
      if (error) {
        setResult([error]);
        return;
      }
      for (const rule of ownRules(isIntrospectable)) addValidationRule(rule);
      if (isIntrospectable) return;
      // "Did you mean …" would tell the schema piece by piece.
      return ({ result, setResult: setErrors }) => setErrors((result as GraphQLError[]).map(withoutHint));
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

// Yoga reads only what GraphQL over HTTP names in an address.
function namesIn(url: string): Record<string, string> {
  const { query: _, variables: __, extensions: ___, ...names } = Object.fromEntries(new URL(url).searchParams);
  return names;
}

/** An error without GraphQL's suggestion of other names: that would tell the schema piece by piece. */
export function withoutHint(error: GraphQLError): GraphQLError {
  const { nodes, source, positions, path, originalError, extensions } = error;
  const location = { nodes: nodes ?? null, source: source ?? null, positions: positions ?? null, path: path ?? null };
  const message = error.message.replace(/ Did you mean .*\?$/s, '');
  return new GraphQLError(message, { ...location, originalError: originalError ?? null, extensions });
}

function withCost<T extends ExecutionResult>(result: T, cost: number): T {
  return { ...result, extensions: { ...result.extensions, cost } };
}

// The cost stands in the first part.
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

/** What may run, with its variables as it will see them; or why it may not. */
type Admission =
  | { readonly errors: readonly GraphQLError[] }
  | { readonly errors: null; readonly variables: Readonly<Record<string, unknown>> };

// The last gate: what it is given, how much it asks for, and whether its key has as many points left. Null where the
// document has no such operation: it is for the executor to say so.
async function admit(plans: Plans, args: ExecutedArgs, hasHints: boolean): Promise<Admission | null> {
  const { document, operationName, variableValues } = args;
  const context = args.contextValue as GraphqlContext;
  const plan = plans.of(document).find(operationName);
  if (!plan) {
    await chargeMinimum(context);
    return null;
  }
  const estimate = weigh(plan, variableValues ?? {}, hasHints);
  if (estimate.errors) {
    await chargeMinimum(context);
    return estimate;
  }
  const refusal = await chargeOperation(context, estimate.cost);
  if (refusal) return { errors: [refusal] };
  // Before all lists of the operation: what changes after they are read comes after it.
  if (plan.readsChangesCursor) context.changesCursor = await changesCursorNow(context.domain.store);
  return estimate;
}

/**
 * What an operation is given and how much it asks for: its variables as it will see them and its cost in points, or what
 * is wrong with either.
 */
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
