import type { Viewer } from '../../auth/viewer.ts';
import type { Context } from '../../domain/context.ts';
import type { Spending } from '../../domain/limits/counter.ts';
import { onPrimary } from '../../domain/on-primary.ts';
import type { WatchStart } from '../../domain/sessions/start-watch.ts';
import type { Watches } from '../../domain/subscriptions/watches.ts';
import { createLoaders, type Loaders } from './loaders.ts';
import type { OperationTrace } from './operation-trace.ts';

/** The cost of an operation, once it is known. */
export interface Charge {
  /** 0 for an operation that never ran. */
  cost: number;
  /** Null if nothing has been charged yet, or if there is no limit. */
  spending: Spending | null;
  /** The number of sessions that each bulk mutation changed, by response name. */
  readonly ran: Map<string | number, number>;
}

/** The position of a subscription, for clients that resume with `Last-Event-ID`. */
export interface EventPosition {
  /** The id of the last event that the client received. It takes precedence over the argument `after`. */
  readonly lastEventId: string | null;
  /** The id of the event delivered last; null for subscriptions without event ids. */
  eventId: string | null;
}

/**
 * Delivers the entries of a log directly, on transports that can. Results that are equal for many subscribers are
 * encoded once.
 */
export interface LogDelivery {
  /** Takes over a subscription to a log. The returned iterator yields nothing, and ends with the subscription. */
  accept(start: WatchStart): AsyncIterableIterator<never>;
}

/** The request of an operation. */
export interface RequestContext {
  /** The header `Idempotency-Key`, on transports that have headers. */
  readonly idempotencyKey: string | null;
  /** See {@link EventPosition}. */
  readonly lastEventId: string | null;
  /** True if the header `Switchyard-Client: console` says that the request comes from the web console. */
  readonly isConsole?: boolean;
  /** True if the response may be incremental (`@defer`). */
  readonly takesParts: boolean;
  /** True if the operation has a counted stream that ends with its key. A subscription needs one. */
  readonly takesEvents: boolean;
  /** Null: the caller pulls the results of a subscription one by one. */
  readonly delivery?: LogDelivery | null;
  /** Null: the operation is not recorded. */
  readonly trace?: OperationTrace | null;
}

/** An operation whose cost is estimated. */
interface OperationInput {
  readonly document: string;
  readonly operationName: string | null;
  readonly variables: unknown;
}

/**
 * Computes the cost of an operation in points without running it. Throws the error that the operation would get before
 * it runs.
 */
export type Estimate = (input: OperationInput) => number;

/** The context of resolvers: one for each request, and for each operation on a socket. */
export interface GraphqlContext extends Pick<RequestContext, 'idempotencyKey' | 'takesParts' | 'takesEvents'> {
  readonly domain: Context;
  readonly watches: Watches;
  readonly estimate: Estimate;
  readonly charge: Charge;
  readonly eventPosition: EventPosition;
  readonly delivery: LogDelivery | null;
  readonly trace: OperationTrace | null;
  /** The cursor from which changes after this operation start; null if the operation does not request it. */
  changesCursor: string | null;
  /** Batched reads, cached within one request or one event. */
  loaders: Loaders;
}

/**
 * Creates the context of an operation. `viewer`: the caller or, for operations during which roles may change, a
 * function that returns the current one.
 */
export type ContextOf = (
  viewer: Viewer | (() => Viewer),
  address: string | null,
  requestContext: RequestContext,
) => GraphqlContext;

/** Creates the context of an operation. */
export function createContext(
  { domain, watches, estimate }: Pick<GraphqlContext, 'domain' | 'watches' | 'estimate'>,
  requestContext: RequestContext,
): GraphqlContext {
  const { idempotencyKey, lastEventId, takesParts, takesEvents, delivery = null, trace = null } = requestContext;
  return {
    domain,
    watches,
    estimate,
    idempotencyKey,
    takesParts,
    takesEvents,
    charge: { cost: 0, spending: null, ran: new Map() },
    eventPosition: { lastEventId, eventId: null },
    delivery,
    trace,
    changesCursor: null,
    loaders: lazyLoaders(() => domain),
  };
}

/** Creates all loaders on first use: most events of subscriptions need none. */
export function lazyLoaders(domain: () => Context): Loaders {
  let made: Loaders | null = null;
  return new Proxy({} as Loaders, {
    get(_target, name) {
      made ??= createLoaders(domain());
      return made[name as keyof Loaders];
    },
  });
}

/**
 * Replaces the loaders for every event of a subscription and every mutation, so that nobody gets values that an earlier
 * one cached. They read lists from the primary, because a replica would be late.
 */
export function renewLoaders(context: GraphqlContext): void {
  context.loaders = lazyLoaders(() => onPrimary(context.domain));
}
