import DataLoader from 'dataloader';
import type { Ledger } from '../domain/consumption/ledgers.ts';
import { type ConsumptionShare, countShares, listShares, type ShareOf } from '../domain/consumption/shares.ts';
import { sumLedgers } from '../domain/consumption/sums.ts';
import type { Context } from '../domain/context.ts';
import type { ActiveUsersUnit } from '../domain/metrics/active-users.ts';
import {
  countActiveUsersOf,
  listActiveUsersOf,
  type MetricsPlace,
  readSessionMetrics,
} from '../domain/metrics/of-places.ts';
import type { Count } from '../domain/nested-pages.ts';
import type { Page, PageLimits, PageRequest } from '../domain/pages.ts';
import { listTagRules, type TagRules } from '../domain/sessions/allowed-tags.ts';

/** What is read of a place: of one organization, or of the enterprise. */
interface OfPlace {
  readonly organizationId: string | null;
  readonly input: object;
}

// Those that differ in their organization only are read together. What is of the enterprise is by itself.
function eachPlace<T extends OfPlace, R>() {
  const loaders = new Map<string, DataLoader<T, R, string>>();
  return (place: T, how: unknown, read: (places: readonly T[]) => Promise<readonly R[]>): Promise<R> => {
    const key = JSON.stringify([place.organizationId === null, place.input, how]);
    const loader =
      loaders.get(key) ?? new DataLoader(read, { cacheKeyFn: ({ organizationId }: T) => organizationId ?? '' });
    loaders.set(key, loader);
    return loader.load(place);
  };
}

/** One statement for the consumption, the metrics or the tags of all organizations that are asked for in the same tick. */
export function createUsageLoaders(context: Context, limits: PageLimits) {
  const sums = eachPlace<Ledger, Awaited<ReturnType<typeof sumLedgers>>[number]>();
  const shares = eachPlace<Ledger, Page<ConsumptionShare>>();
  const shareCounts = eachPlace<Ledger, Count>();
  const metrics = eachPlace<MetricsPlace, Awaited<ReturnType<typeof readSessionMetrics>>[number]>();
  const counts = eachPlace<MetricsPlace, number>();
  const windows = eachPlace<MetricsPlace, Awaited<ReturnType<typeof listActiveUsersOf>>[number]>();
  return {
    tagRules: new DataLoader<string, TagRules>((ids) => listTagRules(context, ids)),
    consumptionSums: (ledger: Ledger) => sums(ledger, null, (ledgers) => sumLedgers(context, ledgers)),
    consumptionShares: (by: ShareOf, ledger: Ledger, page: PageRequest) =>
      shares(ledger, [by, page], (ledgers) => listShares(context, by, ledgers, page, limits)),
    consumptionShareCount: (by: ShareOf, ledger: Ledger) =>
      shareCounts(ledger, by, (ledgers) => countShares(context, by, ledgers)),
    sessionMetrics: (place: MetricsPlace) => metrics(place, null, (places) => readSessionMetrics(context, places)),
    activeUserCount: (place: MetricsPlace, least: number) =>
      counts(place, least, (places) => countActiveUsersOf(context, least, places)),
    activeUserWindows: (place: MetricsPlace, unit: ActiveUsersUnit, least: number) =>
      windows(place, [unit, least], (places) => listActiveUsersOf(context, unit, least, places)),
  };
}
