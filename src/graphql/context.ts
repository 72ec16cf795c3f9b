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

/** What resolvers get: one per request, and per operation on a socket. */
export interface GraphqlContext {
  readonly domain: Context;
  readonly watches: Watches;
  /** The header `Idempotency-Key`, where the transport has headers. */
  readonly idempotencyKey: string | null;
  readonly charge: Charge;
  /** Batched reads, remembered within one request or one event. */
  loaders: Loaders;
}

/** A context for an operation. */
export function createContext(domain: Context, watches: Watches, idempotencyKey: string | null): GraphqlContext {
  return { domain, watches, idempotencyKey, charge: { cost: 0, spending: null }, loaders: createLoaders(domain) };
}

/** For every event of a subscription: what an earlier event read must not be taken for the present. */
export function renewLoaders(context: GraphqlContext): void {
  context.loaders = createLoaders(context.domain);
}
