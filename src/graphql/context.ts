import type { Context } from '../domain/context.ts';
import type { Spending } from '../domain/limits/counter.ts';
import type { Watches } from '../domain/sessions/watch.ts';
import { createLoaders, type Loaders } from './loaders.ts';

/** What an operation costs, once that is known. */
export interface Charge {
  /** 0: it was never run. */
  cost: number;
  /** Null: not charged yet, or there is no limit. */
  spending: Spending | null;
}

/** Where a subscription stands, for clients that go on by `Last-Event-ID`. */
export interface Place {
  /** The id of the last event that the client has had; it stands above the argument `after`. */
  readonly lastEventId: string | null;
  /** The id of the event that was given last; null for subscriptions that have none. */
  eventId: string | null;
}

/** How an operation came. */
export interface Arrival {
  /** The header `Idempotency-Key`, where the transport has headers. */
  readonly idempotencyKey: string | null;
  /** See {@link Place}. */
  readonly lastEventId: string | null;
  /** It says, by the header `Switchyard-Client: console`, that it comes from the web console. */
  readonly isConsole?: boolean;
  /** Whether its answer may come in parts. */
  readonly takesParts: boolean;
  /** Whether there is a stream for it that ends with its key and is counted: what a subscription needs. */
  readonly takesEvents: boolean;
}

/** What resolvers get: one per request, and per operation on a socket. */
export interface GraphqlContext extends Pick<Arrival, 'idempotencyKey' | 'takesParts' | 'takesEvents'> {
  readonly domain: Context;
  readonly watches: Watches;
  readonly charge: Charge;
  readonly place: Place;
  /** Batched reads, remembered within one request or one event. */
  loaders: Loaders;
}

/** A context for an operation. */
export function createContext(domain: Context, watches: Watches, arrival: Arrival): GraphqlContext {
  const { idempotencyKey, lastEventId, takesParts, takesEvents } = arrival;
  return {
    domain,
    watches,
    idempotencyKey,
    takesParts,
    takesEvents,
    charge: { cost: 0, spending: null },
    place: { lastEventId, eventId: null },
    loaders: createLoaders(domain),
  };
}

/** For every event of a subscription: what an earlier event read must not be taken for the present. */
export function renewLoaders(context: GraphqlContext): void {
  context.loaders = createLoaders(context.domain);
}
