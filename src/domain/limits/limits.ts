import type { Store } from '../../store/store.ts';
import { type Counter, type CounterOptions, createCounter } from './counter.ts';
import { sharePoints } from './shared-points.ts';

/** Limits per minute; 0: unlimited. */
export interface LimitSizes {
  /** REST requests of one key. */
  readonly rest: number;
  /** Points of one key's GraphQL operations. */
  readonly graphql: number;
  /** Invalid tokens from one address. */
  readonly login: number;
  /** Deliveries to the incoming webhook of one automation. */
  readonly webhook: number;
  /** Deliveries of a forge to one git connection. */
  readonly gitWebhook: number;
  /** Requests to model providers and to forges on behalf of one user, service user or key: tests, and live lists. */
  readonly provider: number;
}

/** The counters; built once by the app. Keys are unprefixed ids of API keys, automations, git connections and principals, or addresses. */
export type Limits = Readonly<Record<keyof LimitSizes, Counter>>;

/**
 * Creates the limits of one process: it shares them with the others on its PostgreSQL; an embedded database has one
 * process.
 */
export function createLimits(
  services: Pick<CounterOptions, 'now' | 'log'> & { readonly store: Pick<Store, 'dialect' | 'execute'> },
  sizes: LimitSizes,
): Limits {
  const { store, now, log } = services;
  const shared = store.dialect === 'postgres' ? sharePoints(store) : null;
  const count = (name: keyof LimitSizes) => createCounter({ name, limit: sizes[name], shared, now, log });
  return {
    rest: count('rest'),
    graphql: count('graphql'),
    login: count('login'),
    webhook: count('webhook'),
    gitWebhook: count('gitWebhook'),
    provider: count('provider'),
  };
}
