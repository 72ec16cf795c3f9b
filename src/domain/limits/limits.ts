import type { Store } from '../../store/store.ts';
import { type Counter, type CounterOptions, createCounter } from './counter.ts';
import { sharePoints } from './shared-points.ts';

/** How much may be had in a minute; 0: as much as one likes. */
export interface LimitSizes {
  /** REST requests of one key. */
  readonly rest: number;
  /** Points of one key's GraphQL operations. */
  readonly graphql: number;
  /** Tokens from one address that are not good. */
  readonly login: number;
  /** Deliveries to the incoming webhook of one automation. */
  readonly webhook: number;
}

/** What is counted; built once by the app. Keys are bare ids of API keys and automations, or addresses. */
export type Limits = Readonly<Record<keyof LimitSizes, Counter>>;

/** The limits of one process: it shares them with the others on its PostgreSQL; an embedded database has one process. */
export function createLimits(
  services: Pick<CounterOptions, 'now' | 'log'> & { readonly store: Pick<Store, 'dialect' | 'execute'> },
  sizes: LimitSizes,
): Limits {
  const { store, now, log } = services;
  const shared = store.dialect === 'postgres' ? sharePoints(store) : null;
  const count = (name: keyof LimitSizes) => createCounter({ name, limit: sizes[name], shared, now, log });
  return { rest: count('rest'), graphql: count('graphql'), login: count('login'), webhook: count('webhook') };
}
