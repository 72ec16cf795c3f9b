import type { CallCost, CallUse } from '../../../agents/credential.ts';
import type { Context } from '../../context.ts';
import { budgetStart } from '../../library/provider-keys/stored-key.ts';
import { addKeyUsage } from '../metering/ledger-entry.ts';

/** The owner of a reservation; `userId` empty: the session belongs to no user. */
export interface ReservationOwner {
  readonly id: string;
  readonly keyId: string;
  readonly organizationId: string;
  readonly userId: string;
  readonly workerId: string;
}

/** The outcome of {@link reserve}. */
export interface Reserved {
  readonly isReserved: boolean;
  /** The amount that the output may cost; null: the highest cost of the call is reserved. */
  readonly outputUsd: number | null;
  readonly budgetUsd: number;
  /** The budget without the cost of the month so far. Calls in progress are not counted. */
  readonly leftUsd: number;
}

// A reservation is extended several times in this period.
const expiry = `now() + interval '2 minutes'`;

// Reservations of one key are made one after another: the next statement sees those before it.
const lock = `
  select coalesce(monthly_budget_usd, 1e12) as "budgetUsd" from provider_key
   where id = $1 and deleted_at is null and is_enabled for no key update`;

const insert = `
  with state as (
    select $6::float8 - (select coalesce(sum(u.cost_usd), 0) from provider_key_usage u
                          where u.provider_key_id = $2 and u.day >= $7::date) as left_usd,
           coalesce(sum(r.amount_usd), 0) as held_usd, count(*) as held
      from provider_key_reservation r where r.provider_key_id = $2),
  decided as (
    select left_usd, greatest(left_usd - $10::float8, $11::float8) as output_usd,
           left_usd > 0 and left_usd - held_usd >= $8::float8 + $9::float8 as is_whole,
           left_usd > 0 and held = 0 and left_usd >= $10::float8 + $11::float8 as is_alone
      from state),
  made as (
    insert into provider_key_reservation (id, provider_key_id, organization_id, user_id, worker_id, amount_usd, expires_at)
    select $1, $2, $3, $4, $5, case when is_whole then $8::float8 + $9::float8 else $8::float8 + least(output_usd, $9::float8) end,
           ${expiry} from decided where is_whole or is_alone
    returning id)
  select left_usd as "leftUsd", is_whole or is_alone as "isReserved", case when not is_whole then output_usd end as "outputUsd"
    from decided`;

/**
 * Reserves a part of a key's budget for a call: its highest cost if that fits. A call that does not fit may be made alone, if
 * its input and a short output fit. Null: the key was deleted or disabled.
 */
export function reserve(context: Context, owner: ReservationOwner, cost: CallCost): Promise<Reserved | null> {
  const { id, keyId, organizationId, userId, workerId } = owner;
  const costs = [cost.maxInputUsd, cost.maxOutputUsd, cost.inputUsd, cost.minOutputUsd].map(within);
  return context.store.transact(async (tx) => {
    const [key] = await tx.query<Pick<Reserved, 'budgetUsd'>>(lock, [keyId]);
    if (!key) return null;
    const { budgetUsd } = key;
    const values = [id, keyId, organizationId, userId, workerId, budgetUsd, budgetStart(context), ...costs];
    const [row] = await tx.query<Omit<Reserved, 'budgetUsd'>>(insert, values);
    return row ? { ...row, budgetUsd } : null;
  });
}

/** Higher than any budget. Infinite amounts would spoil the sums. */
const maxUsd = 1e10;
const within = (amount: number) => (amount >= 0 ? Math.min(amount, maxUsd) : Number.isNaN(amount) ? maxUsd : 0);
const maxTokens = 1e9;

const settleOne = `
  with done as (
    delete from provider_key_reservation where id = $1 returning provider_key_id, organization_id, user_id, amount_usd),
  used as (
    insert into provider_key_usage as u (provider_key_id, day, organization_id, user_id, calls, input_tokens, cached_tokens,
                                         output_tokens, cost_usd)
    select provider_key_id, $2::date, organization_id, user_id, 1, $5::int8, $6::int8, $7::int8, coalesce($8::float8, amount_usd)
      from done where $4::boolean
    ${addKeyUsage}
    returning u.provider_key_id),
  touched as (
    update provider_key k set last_used_at = $9::timestamptz from used
     where k.id = used.provider_key_id and (k.last_used_at is null or k.last_used_at < $9::timestamptz - interval '1 minute')
    returning k.id)
  select case when $4::boolean then coalesce($8::float8, done.amount_usd) else 0 end
         + (select coalesce(sum(u.cost_usd), 0) from provider_key_usage u
             where u.provider_key_id = done.provider_key_id and u.day >= $3::date) as "spentUsd"
    from done`;

/**
 * Replaces a reservation by the use of its call; null: nothing was used. Returns the cost of the month with the key; null: the
 * reservation was settled before.
 */
export async function settle(context: Context, id: string, use: CallUse | null): Promise<number | null> {
  const { inputTokens = 0, cachedTokens = 0, outputTokens = 0, costUsd = null } = use ?? {};
  const tokens = [inputTokens, cachedTokens, outputTokens].map((each) => Math.min(Math.round(within(each)), maxTokens));
  const now = context.now();
  const rows = await context.store.execute<{ spentUsd: number }>(settleOne, [
    id,
    now.toISOString().slice(0, 10),
    budgetStart(context),
    use !== null,
    ...tokens,
    costUsd === null ? null : within(costUsd),
    now,
  ]);
  return rows[0]?.spentUsd ?? null;
}

const settleAll = `
  with done as (
    delete from provider_key_reservation where worker_id = $2 or ($2::text is null and expires_at < now())
    returning provider_key_id, organization_id, user_id, amount_usd),
  used as (
    insert into provider_key_usage as u (provider_key_id, day, organization_id, user_id, calls, cost_usd)
    select provider_key_id, $1::date, organization_id, user_id, count(*), sum(amount_usd) from done group by 1, 3, 4 order by 1, 3, 4
    ${addKeyUsage}
    returning u.provider_key_id)
  select count(*)::int as calls from done`;

/**
 * Counts the calls of processes that have died, each with its whole reservation: all of a worker that has just started, or null:
 * those that nobody has extended. Returns their number.
 */
export async function settleLost(context: Context, workerId: string | null): Promise<number> {
  const today = context.now().toISOString().slice(0, 10);
  const [row] = await context.store.execute<{ calls: number }>(settleAll, [today, workerId]);
  const calls = row?.calls ?? 0;
  if (calls > 0) context.log.warn({ calls }, 'Calls of a process that died were counted with their highest cost.');
  return calls;
}

/** Extends the reservations of calls in progress. */
export async function extend(context: Context, ids: readonly string[]): Promise<void> {
  await context.store.executeUrgent(
    `update provider_key_reservation set expires_at = ${expiry} where id = any($1::text[])`,
    [ids],
  );
}
