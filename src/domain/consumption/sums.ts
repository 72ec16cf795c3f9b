import type { Context } from '../context.ts';
import type { DayConsumption } from './consumption.ts';
import { cycleOf, type Period } from './cycles.ts';
import { byPlace, type Ledger, ledgerSource, placeIdOf } from './ledgers.ts';

/** The same ACUs added up in three ways. Days and cycles without any use are left out. */
export interface ConsumptionSums {
  readonly totalAcus: number;
  /** Days of UTC. */
  readonly days: readonly DayConsumption[];
  /** Each with what of it lies in the days that are meant. */
  readonly cycles: readonly (Period & { readonly acus: number })[];
}

interface SumRow {
  readonly placeId: string;
  readonly day: number | null;
  readonly month: Date | null;
  readonly acus: number;
}

/** What each of some ledgers adds up to, in their order and in one statement. They differ in their organization only. */
export async function sumLedgers(context: Context, ledgers: readonly Ledger[]): Promise<ConsumptionSums[]> {
  const [first, ...others] = ledgers;
  if (!first) return [];
  const { places, where, values } = ledgerSource(context, [first, ...others]);
  // Decimal sums: adding up in another order or by another key must not give another number.
  const rows = await context.store.query<SumRow>(
    `select d.place_id as "placeId", d.day, d.month, sum(d.acus)::float8 as acus
       from (select p.id as place_id, floor(extract(epoch from u.used_at) / 86400)::int8 as day,
                    date_trunc('month', u.used_at, 'UTC') as month, u.acus::numeric as acus
               from ${places} join usage u on ${where}) d
      group by grouping sets ((d.place_id, d.day), (d.place_id, d.month), (d.place_id))
      order by d.place_id, d.day, d.month`,
    values,
  );
  const found = byPlace(rows);
  return ledgers.map((ledger) => {
    const own = found.get(placeIdOf(ledger)) ?? [];
    return {
      totalAcus: own.find(({ day, month }) => day === null && month === null)?.acus ?? 0,
      days: own.flatMap(({ day, acus }) => (day === null ? [] : [{ startsAt: new Date(day * 86_400_000), acus }])),
      cycles: own.flatMap(({ month, acus }) => (month === null ? [] : [{ ...cycleOf(month), acus }])),
    };
  });
}
