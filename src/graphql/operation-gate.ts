import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  NoSchemaIntrospectionCustomRule,
  type ParseOptions,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { chargeLeast, chargeOperation } from './charge.ts';
import { coerceVariables } from './coerce-variables.ts';
import type { GraphqlContext } from './context.ts';
import { DeferLabelsRule, isDeferrable, maskParts, withoutDefer } from './defer.ts';
import { findExcess, parseBounded } from './document-limits.ts';
import { countPageItems, findExcessItems } from './page-budget.ts';
import { isIterable } from './prepare-operation.ts';
import { documentOf, type TrustedDocuments } from './trusted-documents.ts';

/** What the operator decides about operations. */
export interface GateOptions {
  readonly trusted: TrustedDocuments;
  /** Whether the schema may be asked for. */
  readonly isIntrospectable: boolean;
  readonly maskError: (error: unknown) => GraphQLError;
}

/**
 * The gate that every operation passes, by POST, GET, server-sent events and WebSocket alike: it hooks into parsing,
 * validating and running, which all of them share, not into HTTP. Only the way to a trusted document begins outside it:
 * at `onParams` for HTTP, in prepare-operation.ts for all others.
 */
export function operationGate({ trusted, isIntrospectable, maskError }: GateOptions): Plugin {
  return {
    onParams({ request, params, setParams }) {
      // What is no object, as a batch, is refused by Yoga.
      if (typeof params !== 'object' || params === null || Array.isArray(params)) return;
      const given = { ...params, ...(request.method === 'GET' ? namesIn(request.url) : {}) };
      const { operationName, variables, extensions } = params;
      const query = documentOf(trusted, given) ?? undefined;
      // A text that is none is for Yoga to refuse.
      if (query !== undefined) setParams({ query, operationName, variables, extensions } as typeof params);
    },
    onParse({ setParseFn }) {
      setParseFn((source: string, options?: ParseOptions) => parseBounded(source, options));
    },
    // Before GraphQL's own rules, not as one of them: the time of some grows with the square of a document's fields.
    onValidate({ params, setResult, addValidationRule }) {
      const error = findExcess(params.documentAST as DocumentNode);
      if (error) {
        setResult([error]);
        return;
      }
      addValidationRule(DeferLabelsRule);
      if (isIntrospectable) return;
      addValidationRule(NoSchemaIntrospectionCustomRule);
      // "Did you mean …" would tell the schema piece by piece.
      return ({ result, setResult: setErrors }) => setErrors((result as GraphQLError[]).map(withoutHint));
    },
    async onExecute({ args, executeFn, setExecuteFn, setResultAndStopExecution }) {
      const context = args.contextValue as unknown as GraphqlContext;
      const errors = await admit(args, isIntrospectable);
      if (errors) return setResultAndStopExecution({ errors });
      const operation = getOperationAST(args.document, args.operationName)?.operation;
      if (!context.takesParts || !isDeferrable(operation)) {
        const document = withoutDefer(args.document);
        setExecuteFn((given: ExecutionArgs) => executeFn({ ...given, document }));
      }
      return {
        onExecuteDone({ result, setResult }) {
          const { cost } = context.charge;
          if (isIterable(result)) setResult(mapParts(result, cost, maskError));
          else setResult(withCost(result as ExecutionResult, cost));
        },
      };
    },
    async onSubscribe({ args, subscribeFn, setSubscribeFn, setResultAndStopExecution }) {
      const errors = await admit(args, isIntrospectable);
      if (errors) return setResultAndStopExecution({ errors });
      const document = withoutDefer(args.document);
      setSubscribeFn((given: ExecutionArgs) => subscribeFn({ ...given, document }));
    },
  };
}

// Yoga reads only what GraphQL over HTTP names in an address.
function namesIn(url: string): Record<string, string> {
  const { query: _, variables: __, extensions: ___, ...names } = Object.fromEntries(new URL(url).searchParams);
  return names;
}

function withoutHint(error: GraphQLError): GraphQLError {
  const { nodes, source, positions, path, originalError, extensions } = error;
  const place = { nodes: nodes ?? null, source: source ?? null, positions: positions ?? null, path: path ?? null };
  const message = error.message.replace(/ Did you mean .*\?$/s, '');
  return new GraphQLError(message, { ...place, originalError: originalError ?? null, extensions });
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

// The last gate: what it is given, how much it asks for, and whether its key has as many points left.
async function admit(args: ExecutedArgs, hasHints: boolean): Promise<readonly GraphQLError[] | null> {
  const { schema, document, operationName, variableValues } = args;
  const context = args.contextValue as GraphqlContext;
  const operation = getOperationAST(document, operationName);
  if (!operation) {
    await chargeLeast(context);
    return null;
  }
  const fragments = new Map(
    document.definitions.flatMap((definition) =>
      definition.kind === Kind.FRAGMENT_DEFINITION ? [[definition.name.value, definition] as const] : [],
    ),
  );
  const coerced = coerceVariables({ schema, operation, given: variableValues ?? {}, hasHints });
  if (coerced.errors) {
    await chargeLeast(context);
    return coerced.errors;
  }
  const asked = { schema, operation, fragments, variables: coerced.values };
  const items = countPageItems(asked);
  const excess = findExcessItems(items);
  if (excess) {
    await chargeLeast(context);
    return [excess];
  }
  const refusal = await chargeOperation(context, asked, items);
  return refusal && [refusal];
}
