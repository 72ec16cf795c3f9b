import DataLoader from 'dataloader';
import type { Context } from '../../domain/context.ts';
import { listTagRules, type TagRules } from '../../domain/identity/organizations/allowed-tags.ts';
import type { Count } from '../../domain/nested-pages.ts';
import type { Page, PageLimits, PageRequest } from '../../domain/pages.ts';
import type { Ledger } from '../../domain/usage/consumption/ledgers.ts';
import { type ConsumptionShare, countShares, listShares, type ShareOf } from '../../domain/usage/consumption/shares.ts';
import { sumLedgers } from '../../domain/usage/consumption/sums.ts';
import type { ActiveUsersUnit } from '../../domain/usage/metrics/active-users.ts';
import {
  countActiveUsersOf,
  listActiveUsersOf,
  type MetricsSelection,
  readSessionMetrics,
} from '../../domain/usage/metrics/metrics-by-scope.ts';

/** The scope of a read: one organization or the enterprise. */
interface ScopedInput {
  readonly organizationId: string | null;
  readonly input: object;
}

// Reads inputs that differ only in their organization together. Inputs of the enterprise are read separately.
function scopeLoader<T extends ScopedInput, R>() {
  const loaders = new Map<string, DataLoader<T, R, string>>();
  return (scope: T, how: unknown, read: (scopes: readonly T[]) => Promise<readonly R[]>): Promise<R> => {
    const key = JSON.stringify([scope.organizationId === null, scope.input, how]);
    const loader =
      loaders.get(key) ?? new DataLoader(read, { cacheKeyFn: ({ organizationId }: T) => organizationId ?? '' });
    loaders.set(key, loader);
    return loader.load(scope);
  };
}

/**
 * Creates loaders that run one statement for the consumption, metrics or tags of all organizations requested in the
 * same tick.
 */
export function createUsageLoaders(context: Context, limits: PageLimits) {
  const sums = scopeLoader<Ledger, Awaited<ReturnType<typeof sumLedgers>>[number]>();
  const shares = scopeLoader<Ledger, Page<ConsumptionShare>>();
  const shareCounts = scopeLoader<Ledger, Count>();
  const metrics = scopeLoader<MetricsSelection, Awaited<ReturnType<typeof readSessionMetrics>>[number]>();
  const counts = scopeLoader<MetricsSelection, number>();
  const windows = scopeLoader<MetricsSelection, Awaited<ReturnType<typeof listActiveUsersOf>>[number]>();
  return {
    tagRules: new DataLoader<string, TagRules>((ids) => listTagRules(context, ids)),
    consumptionSums: (ledger: Ledger) => sums(ledger, null, (ledgers) => sumLedgers(context, ledgers)),
    consumptionShares: (by: ShareOf, ledger: Ledger, page: PageRequest) =>
      shares(ledger, [by, page], (ledgers) => listShares(context, by, ledgers, page, limits)),
    consumptionShareCount: (by: ShareOf, ledger: Ledger) =>
      shareCounts(ledger, by, (ledgers) => countShares(context, by, ledgers)),
    sessionMetrics: (scope: MetricsSelection) => metrics(scope, null, (scopes) => readSessionMetrics(context, scopes)),
    activeUserCount: (scope: MetricsSelection, minSessions: number) =>
      counts(scope, minSessions, (scopes) => countActiveUsersOf(context, minSessions, scopes)),
    activeUserWindows: (scope: MetricsSelection, unit: ActiveUsersUnit, minSessions: number) =>
      windows(scope, [unit, minSessions], (scopes) => listActiveUsersOf(context, unit, minSessions, scopes)),
  };
}
