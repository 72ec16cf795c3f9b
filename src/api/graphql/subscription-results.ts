import { setTimeout as delay } from 'node:timers/promises';
import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  type GraphQLError,
  Kind,
  visit,
} from 'graphql';
import type { Viewer } from '../../auth/viewer.ts';
import type { DraftBatch } from '../../domain/sessions/live/live-draft.ts';
import type { LogBatch } from '../../domain/sessions/log-source.ts';
import { isOutage } from '../../domain/unavailable.ts';
import { coerceVariables } from './coerce-variables.ts';
import { type GraphqlContext, lazyLoaders } from './context.ts';
import { withoutDefer } from './defer.ts';
import type { Plans } from './plans/plans.ts';
import { createReadyPayload, type ReadyPayload } from './ready-payload.ts';

/** A subscription that all subscribers with the same document and variables share. */
export interface SharedOperation {
  /** Executes the operation for an entry. */
  readonly run: (entry: unknown, context: GraphqlContext) => ExecutionResult | Promise<ExecutionResult>;
}

/** Results of subscriptions for the entries of logs, computed once for all subscribers that get the same. */
export interface SharedResults {
  operationOf(args: ExecutionArgs): SharedOperation;
  /** Converts an error for the client. */
  maskError(error: unknown): GraphQLError;
  /**
   * The result for the n-th entry of a batch; while it is computed, a promise: call again after it has settled. Never
   * throws.
   */
  resultOf(
    operation: SharedOperation,
    batch: LogBatch,
    n: number,
    context: GraphqlContext,
  ): ReadyPayload | Promise<unknown>;
  /** The result for a part of a draft, which no viewer sees differently; while it is computed, a promise, as above. */
  resultOfChunk(
    operation: SharedOperation,
    batch: DraftBatch,
    context: GraphqlContext,
  ): ReadyPayload | Promise<unknown>;
}

/** The cached results of one entry. */
interface Made {
  /** The result that does not depend on the viewer. */
  everybodys: ReadyPayload | null;
  /** The results that depend on the viewer's permissions, by those. */
  readonly byRights: Map<string, ReadyPayload | Promise<unknown>>;
}

/** Creates {@link SharedResults}. */
export function createSharedResults(plans: Plans, maskError: (error: unknown) => GraphQLError): SharedResults {
  const operations = new WeakMap<
    DocumentNode,
    { own: ReadonlySet<string>; cached: Map<string, WeakRef<SharedOperation>> }
  >();

  const toPayload = ({ data, errors }: ExecutionResult) =>
    createReadyPayload(
      JSON.stringify(errors ? { data, errors: errors.map((error) => maskError(error).toJSON()) } : { data }),
    );

  const make = (operation: SharedOperation, entry: unknown, context: GraphqlContext, made: Made) => {
    const tracking = trackingContext(context);
    const rights = () => rightsOf(context);
    const keep = (payload: ReadyPayload, key: string | null) => {
      if (!tracking.hasReadViewer) made.everybodys = payload;
      else made.byRights.set(key ?? rights(), payload);
      return payload;
    };
    const fail = (error: unknown) => toPayload({ data: null, errors: [maskError(error)] });
    try {
      const result = operation.run(entry, tracking.context);
      if (!(result instanceof Promise)) return keep(toPayload(result), null);
      const key = rights();
      const pending = afterOutage(result, () => operation.run(entry, tracking.context))
        .then(toPayload, fail)
        .then((payload) => keep(payload, key));
      made.byRights.set(key, pending);
      return pending;
    } catch (error) {
      return keep(fail(error), null);
    }
  };

  return {
    maskError,
    operationOf({ schema, document: requestDocument, operationName, variableValues }) {
      const document = withoutDefer(requestDocument);
      const of = operations.get(document) ?? { own: ownVariables(document), cached: new Map() };
      operations.set(document, of);
      const values = Object.entries(variableValues ?? {}).filter(([name]) => !of.own.has(name));
      const key = JSON.stringify([operationName ?? null, values.sort(([a], [b]) => (a < b ? -1 : 1))]);
      const cached = of.cached.get(key)?.deref();
      if (cached) return cached;
      for (const [each, ref] of of.cached) if (ref.deref() === undefined) of.cached.delete(each);
      const operation = { run: runOf(plans, { schema, document, operationName, variableValues } as ExecutionArgs) };
      of.cached.set(key, new WeakRef(operation));
      return operation;
    },
    resultOf(operation, batch, n, context) {
      const entries = (batch.results.get(operation) as Made[] | undefined) ?? [];
      if (entries.length === 0) batch.results.set(operation, entries);
      const made = entries[n] ?? { everybodys: null, byRights: new Map() };
      entries[n] = made;
      if (made.everybodys) return made.everybodys;
      const cached = made.byRights.size === 0 ? undefined : made.byRights.get(rightsOf(context));
      return cached ?? make(operation, batch.items[n], context, made);
    },
    resultOfChunk(operation, { items: [chunk], results }, context) {
      const cached = results.get(operation) as ReadyPayload | Promise<unknown> | undefined;
      if (cached !== undefined) return cached;
      const keep = (payload: ReadyPayload | Promise<unknown>) => {
        results.set(operation, payload);
        return payload;
      };
      const fail = (error: unknown) => toPayload({ data: null, errors: [maskError(error)] });
      try {
        const result = operation.run(chunk, context);
        return keep(result instanceof Promise ? result.then(toPayload, fail).then(keep) : toPayload(result));
      } catch (error) {
        return keep(fail(error));
      }
    },
  };
}

/** The delay before a result that failed in an outage is computed again. */
const retryMs = 500;

/**
 * Repeats an operation for an entry until no outage affects the result: subscribers would take the error for the entry.
 */
async function afterOutage(
  first: Promise<ExecutionResult>,
  run: () => ExecutionResult | Promise<ExecutionResult>,
): Promise<ExecutionResult> {
  let result = await first;
  while (result.errors?.some(({ originalError }) => isOutage(originalError))) {
    await delay(retryMs, undefined, { ref: false });
    result = await run();
  }
  return result;
}

/** Compiles the operation if possible. Lookups in the document and the variables happen once, here. */
function runOf(plans: Plans, args: ExecutionArgs): SharedOperation['run'] {
  const plan = plans.of(args.document).find(args.operationName);
  const rawVariables = args.variableValues ?? {};
  const coerced =
    plan && coerceVariables({ schema: args.schema, operation: plan.operation, rawVariables, hasHints: false });
  const compiled = coerced && !coerced.errors ? plan.compiled(coerced.values) : null;
  if (!coerced || coerced.errors || !compiled) {
    return (rootValue, contextValue) => execute({ ...args, rootValue, contextValue });
  }
  const variables = coerced.values;
  const read: unknown[] = [];
  return (rootValue, context) => compiled({ context, variables, rootValue, args: read });
}

/**
 * Creates a context for one entry that records if the viewer was read. Resolvers get the viewer only from `domain`, and
 * loaders read through it. If nothing read it, the result is the same for every viewer.
 */
function trackingContext(original: GraphqlContext): {
  readonly hasReadViewer: boolean;
  readonly context: GraphqlContext;
} {
  const { watches, estimate, idempotencyKey, takesParts, takesEvents, charge } = original;
  const tracking = { hasReadViewer: false };
  const context: GraphqlContext = {
    get domain() {
      tracking.hasReadViewer = true;
      return original.domain;
    },
    watches,
    estimate,
    idempotencyKey,
    takesParts,
    takesEvents,
    charge,
    eventPosition: { lastEventId: null, eventId: null },
    delivery: null,
    trace: null,
    changesCursor: null,
    loaders: lazyLoaders(() => context.domain),
  };
  return Object.assign(tracking, { context });
}

const rights = new WeakMap<Viewer, string>();

/** Everything about the viewer that a result may depend on. */
function rightsOf({ domain }: GraphqlContext): string {
  const { viewer, address, isConsole } = domain;
  let cached = rights.get(viewer);
  if (cached === undefined) {
    const { enterprisePermissions, everywhere, organizations, ...others } = viewer;
    const inOrganizations = [...organizations].map(([id, permissions]) => [id, [...permissions].sort()]).sort();
    cached = JSON.stringify([others, [...enterprisePermissions].sort(), [...everywhere].sort(), inOrganizations]);
    rights.set(viewer, cached);
  }
  return `${isConsole} ${address} ${cached}`;
}

/** The variables that only select the log and the start position: they do not affect the result for an entry. */
function ownVariables(document: DocumentNode): ReadonlySet<string> {
  const own = new Set<string>();
  const others = new Set<string>();
  let depth = 0;
  const within = (levels: number) => ({
    enter() {
      depth += levels;
    },
    leave() {
      depth -= levels;
    },
  });
  visit(document, {
    // A fragment may be used at the root too, but is treated as if it were not.
    FragmentDefinition: within(2),
    Field: within(1),
    VariableDefinition: () => false,
    Variable({ name }, _key, parent) {
      const argument = parent && 'kind' in parent && parent.kind === Kind.ARGUMENT ? parent.name.value : '';
      (depth === 1 && (argument === 'after' || argument === 'sessionId') ? own : others).add(name.value);
    },
  });
  return new Set([...own].filter((name) => !others.has(name)));
}
