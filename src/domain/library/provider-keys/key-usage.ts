import { invalidInput } from '../../../common/errors.ts';
import type { Context } from '../../context.ts';
import { inOrderOfKeys, type WithKeyPosition } from '../../find-by-ids.ts';

/** The sums of a key's usage in a period. */
export interface KeyUsageSums {
  readonly calls: number;
  readonly inputTokens: number;
  /** Input tokens from the provider's cache. */
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
}

/** A key, by its unprefixed id, and a period of days in UTC as `YYYY-MM-DD`. Both days belong to it. */
export interface KeyPeriod {
  readonly id: string;
  readonly from: string;
  readonly to: string;
}

/** Maximum number of days of a period. */
const maxDays = 366;
const dayMs = 24 * 60 * 60 * 1_000;

/** Throws INVALID_INPUT for a period that ends before it begins, or has more than 366 days. */
export function checkKeyPeriod({ from, to }: { readonly from: Date; readonly to: Date }): void {
  const days = (to.getTime() - from.getTime()) / dayMs + 1;
  if (days >= 1 && days <= maxDays) return;
  const message = `"to" must not be before "from", and the period must have at most ${maxDays} days.`;
  throw invalidInput([{ path: ['to'], message }]);
}

const none: KeyUsageSums = { calls: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0, costUsd: 0 };

/**
 * Returns the usage of these keys, which the viewer may see, each in its period, in their order. One statement, which reads
 * one row for each key, day, organization and user.
 */
export async function sumKeyUsage(
  { store }: Pick<Context, 'store'>,
  periods: readonly KeyPeriod[],
): Promise<(KeyUsageSums | null)[]> {
  const rows = await store.query<WithKeyPosition<KeyUsageSums>>(
    `select p.position::int as "keyPosition", sum(u.calls)::bigint as calls, sum(u.input_tokens)::bigint as "inputTokens",
            sum(u.cached_tokens)::bigint as "cachedTokens", sum(u.output_tokens)::bigint as "outputTokens", sum(u.cost_usd) as "costUsd"
       from unnest($1::text[], $2::date[], $3::date[]) with ordinality p (id, first, last, position)
       join provider_key_usage u on u.provider_key_id = p.id and u.day between p.first and p.last
      group by p.position`,
    [periods.map(({ id }) => id), periods.map(({ from }) => from), periods.map(({ to }) => to)],
  );
  return inOrderOfKeys(periods.length, rows).map((row) => row ?? none);
}
