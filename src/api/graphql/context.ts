import type { Viewer } from '../../auth/viewer.ts';
import type { Context } from '../../domain/context.ts';
import type { WatchStart } from '../../domain/sessions/start-watch.ts';
import type { Watches } from '../../domain/sessions/watch.ts';
import type { Spending } from '../../domain/usage/limits/counter.ts';
import { createLoaders, type Loaders } from './loaders.ts';

/** What an operation costs, once that is known. */
export interface Charge {
  /** 0: it was never run. */
  cost: number;
  /** Null: not charged yet, or there is no limit. */
  spending: Spending | null;
  /** On how many sessions bulk mutations acted, by their names in the answer. */
  readonly ran: Map<string | number, number>;
}

/** Where a subscription stands, for clients that go on by `Last-Event-ID`. */
export interface EventPosition {
  /** The id of the last event that the client has had; it stands above the argument `after`. */
  readonly lastEventId: string | null;
  /** The id of the event that was given last; null for subscriptions that have none. */
  eventId: string | null;
}

/** Whoever delivers a log by itself, where the transport can: with what is alike for many made once. */
export interface LogDelivery {
  /** Takes a subscription to a log. What it gives has no results, and ends when the subscription does. */
  accept(start: WatchStart): AsyncIterableIterator<never>;
}

/** How an operation came. */
export interface RequestContext {
  /** The header `Idempotency-Key`, where the transport has headers. */
  readonly idempotencyKey: string | null;
  /** See {@link EventPosition}. */
  readonly lastEventId: string | null;
  /** It says, by the header `Switchyard-Client: console`, that it comes from the web console. */
  readonly isConsole?: boolean;
  /** Whether its answer may come in parts. */
  readonly takesParts: boolean;
  /** Whether there is a stream for it that ends with its key and is counted: what a subscription needs. */
  readonly takesEvents: boolean;
  /** Null: a subscription is asked for its results, one by one. */
  readonly delivery?: LogDelivery | null;
}

/** An operation whose cost is asked for. */
interface OperationInput {
  readonly document: string;
  readonly operationName: string | null;
  readonly variables: unknown;
}

/** Gives the cost of an operation in points, without running it. Throws the error that the operation would get before it runs. */
export type Estimate = (input: OperationInput) => number;

/** What resolvers get: one per request, and per operation on a socket. */
export interface GraphqlContext extends Pick<RequestContext, 'idempotencyKey' | 'takesParts' | 'takesEvents'> {
  readonly domain: Context;
  readonly watches: Watches;
  readonly estimate: Estimate;
  readonly charge: Charge;
  readonly eventPosition: EventPosition;
  readonly delivery: LogDelivery | null;
  /** Where changes after the operation begin; null where it does not ask for that. */
  changesCursor: string | null;
  /** Batched reads, remembered within one request or one event. */
  loaders: Loaders;
}

/**
 * Makes the context of an operation. `viewer`: who asks, or, for what goes on while roles change, what tells who that is by
 * now.
 */
export type ContextOf = (
  viewer: Viewer | (() => Viewer),
  address: string | null,
  requestContext: RequestContext,
) => GraphqlContext;

/** A context for an operation. */
export function createContext(
  { domain, watches, estimate }: Pick<GraphqlContext, 'domain' | 'watches' | 'estimate'>,
  requestContext: RequestContext,
): GraphqlContext {
  const { idempotencyKey, lastEventId, takesParts, takesEvents, delivery = null } = requestContext;
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
    changesCursor: null,
    loaders: lazyLoaders(() => domain),
  };
}

/** Loaders that are made, all of them, when the first is asked for: most events of subscriptions need none. */
export function lazyLoaders(domain: () => Context): Loaders {
  let made: Loaders | null = null;
  return new Proxy({} as Loaders, {
    get(_target, name) {
      made ??= createLoaders(domain());
      return made[name as keyof Loaders];
    },
  });
}

/** For every event of a subscription and every mutation: what an earlier one read must not be taken for the present. */
export function renewLoaders(context: GraphqlContext): void {
  context.loaders = lazyLoaders(() => context.domain);
}
