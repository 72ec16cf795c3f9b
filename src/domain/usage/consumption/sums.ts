import { queryList } from '../../../store/reader.ts';
import type { Context } from '../../context.ts';
import type { DayConsumption } from './consumption.ts';
import { cycleOf, type Period } from './cycles.ts';
import { groupByScope, type Ledger, ledgerSource, scopeIdOf } from './ledgers.ts';

/** The same consumption in three groupings. Days and cycles without consumption are left out. */
export interface ConsumptionSums {
  readonly totalAcus: number;
  /** The reported cost of models in US dollars. */
  readonly totalCostUsd: number;
  /** Days in UTC. */
  readonly days: readonly (DayConsumption & { readonly costUsd: number })[];
  /** Each with its part within the requested days. */
  readonly cycles: readonly (Period & { readonly acus: number })[];
}

interface SumRow {
  readonly scopeId: string;
  readonly day: number | null;
  readonly month: Date | null;
  readonly acus: number;
  readonly costUsd: number;
}

/** Sums each of some ledgers, in their order and in one statement. The ledgers differ only in their organization. */
export async function sumLedgers(context: Context, ledgers: readonly Ledger[]): Promise<ConsumptionSums[]> {
  const [first, ...others] = ledgers;
  if (!first) return [];
  const { scopes, where, values } = ledgerSource(context, [first, ...others]);
  // Decimal sums: the result must not depend on the order or the grouping.
  const rows = await queryList<SumRow>(
    context.store,
    `select d.scope_id as "scopeId", d.day, d.month, sum(d.acus)::float8 as acus, sum(d.cost)::float8 as "costUsd"
       from (select p.id as scope_id, floor(extract(epoch from u.used_at) / 86400)::int8 as day,
                    date_trunc('month', u.used_at, 'UTC') as month, u.acus::numeric as acus, u.cost_usd::numeric as cost
               from ${scopes} join usage u on ${where}) d
      group by grouping sets ((d.scope_id, d.day), (d.scope_id, d.month), (d.scope_id))
      order by d.scope_id, d.day, d.month`,
    values,
  );
  const found = groupByScope(rows);
  return ledgers.map((ledger) => {
    const own = found.get(scopeIdOf(ledger)) ?? [];
    const total = own.find(({ day, month }) => day === null && month === null);
    return {
      totalAcus: total?.acus ?? 0,
      totalCostUsd: total?.costUsd ?? 0,
      days: own.flatMap(({ day, acus, costUsd }) =>
        day === null ? [] : [{ startsAt: new Date(day * 86_400_000), acus, costUsd }],
      ),
      cycles: own.flatMap(({ month, acus }) => (month === null ? [] : [{ ...cycleOf(month), acus }])),
    };
  });
}
