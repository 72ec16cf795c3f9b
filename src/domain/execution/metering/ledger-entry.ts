import { columnsOf, parametersOf, placeholdersOf, type Row, selectFields } from '../../../store/tables.ts';
import type { Context } from '../../context.ts';
import { type Measured, measuredFields } from '../../metering-rates.ts';
import { FencedError } from '../../sessions/log.ts';
import { chargedFields } from '../../usage/consumption/ledger.ts';
import type { ClaimedRun } from '../runs/claims.ts';
import type { KeyUse, UsageUpdate } from './counter.ts';

/** The usage of a run since its last write, for the entry of the current piece of work. */
export interface WorkDone {
  /** The id of the entry: created by its first write, increased by the others. */
  readonly entryId: string;
  /** The start of the piece of work, which determines the day and the cycle of the whole entry. */
  readonly usedAt: Date;
  readonly acus: number;
  readonly measured: Measured;
  readonly source: UsageUpdate['source'] | null;
  /** The total cost of the agent's own session; null: unchanged. */
  readonly agentCostUsd: number | null;
  /** The usage of stored keys. */
  readonly keys: readonly (KeyUse & { readonly keyId: string })[];
}

const added = measuredFields
  .map((field) => columnsOf('Usage', [field]))
  .map((column) => `${column} = u.${column} + excluded.${column}`);

// One statement: the fence, the session's own sum, the entry. Decimal arithmetic, as in consumption/ledger.ts. Locks
// the run, then the session, in the usual lock order.
const write = (more = '') => `
  with locked_run as (
    update run set agent_cost_usd = coalesce($6::float8, agent_cost_usd)
     where session_id = $1 and (generation = $2::int or not $8::boolean) returning session_id),
  used as (
    update session s set acus_consumed = round(s.acus_consumed::numeric + $5::numeric, 6)::float8
      from locked_run where s.id = locked_run.session_id
    returning s.id, s.acus_consumed, ${columnsOf('Session', chargedFields, 's')}),
  entry as (
    insert into usage as u (id, enterprise_id, session_id, used_at, acus, source, ${columnsOf('Usage', chargedFields)},
                            ${columnsOf('Usage', measuredFields)})
    select $3, o.enterprise_id, used.id, $4::timestamptz, $5::float8, $7::text, ${columnsOf('Session', chargedFields, 'used')},
           ${placeholdersOf('Usage', measuredFields, 9)}
      from used join organization o on o.id = used.organization_id
    on conflict (id) do update
       set acus = round(u.acus::numeric + excluded.acus::numeric, 6)::float8, source = coalesce(excluded.source, u.source),
           ${added.join(', ')}
    returning id)${more}
  select used.acus_consumed as acus from used, entry`;

/** The end of an insertion into `provider_key_usage` as `u`: adds to the row of the same key, day, organization and user. */
export const addKeyUsage = `
    on conflict (provider_key_id, day, organization_id, user_id) do update
       set calls = u.calls + excluded.calls, input_tokens = u.input_tokens + excluded.input_tokens,
           cached_tokens = u.cached_tokens + excluded.cached_tokens, output_tokens = u.output_tokens + excluded.output_tokens,
           cost_usd = u.cost_usd + excluded.cost_usd`;

const placeholder = 9 + measuredFields.length;

// The day of the calls is that of the entry. A key in constant use is updated once a minute.
const writeKeys = write(`,
  uses as (
    select k.* from jsonb_to_recordset($${placeholder}::jsonb) k("keyId" text, calls int8, "inputTokens" int8, "cachedTokens" int8,
                                                       "outputTokens" int8, "costUsd" float8)),
  key_use as (
    insert into provider_key_usage as u (provider_key_id, day, organization_id, user_id, calls, input_tokens, cached_tokens,
                                         output_tokens, cost_usd)
    select uses."keyId", ($4::timestamptz at time zone 'UTC')::date, used.organization_id, coalesce(used.user_id, ''), uses.calls,
           uses."inputTokens", uses."cachedTokens", uses."outputTokens", uses."costUsd" from uses, used order by uses."keyId"
    ${addKeyUsage}
    returning provider_key_id),
  key_touch as (
    update provider_key k set last_used_at = $${placeholder + 1}::timestamptz from uses
     where k.id = uses."keyId" and (k.last_used_at is null or k.last_used_at < $${placeholder + 1}::timestamptz - interval '1 minute')
    returning k.id)`);
const writeWithoutKeys = write();

/**
 * Adds to the ledger and to the session's own sum. Throws FencedError if the run is no longer this worker's and
 * `isFenced` is true. It is false only for earlier work that no other process can write.
 */
export async function writeWork(
  context: Context,
  run: Pick<ClaimedRun, 'sessionId' | 'generation'>,
  work: WorkDone,
  isFenced = true,
): Promise<void> {
  const hasKeys = work.keys.length > 0;
  const rows = await context.store.execute<{ acus: number }>(hasKeys ? writeKeys : writeWithoutKeys, [
    run.sessionId,
    run.generation,
    work.entryId,
    work.usedAt,
    work.acus,
    work.agentCostUsd,
    work.source,
    isFenced,
    ...parametersOf('Usage', measuredFields, work.measured),
    ...(hasKeys ? [JSON.stringify(work.keys), context.now()] : []),
  ]);
  if (rows.length === 0) throw new FencedError(run.sessionId);
}

/** Returns the total cost of the agent's own session when the run was last metered. */
export async function readAgentCostUsd(context: Context, sessionId: string): Promise<number> {
  const rows = await context.store.query<Pick<Row<'Run'>, 'agentCostUsd'>>(
    `select ${selectFields('Run', 'r', ['agentCostUsd'])} from run r where r.session_id = $1`,
    [sessionId],
  );
  return rows[0]?.agentCostUsd ?? 0;
}
