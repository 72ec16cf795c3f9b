import { columnsOf, parametersOf, placeholdersOf, type Row, selectFields } from '../../../store/tables.ts';
import type { Context } from '../../context.ts';
import { type Measured, measuredFields } from '../../metering-rates.ts';
import { FencedError } from '../../sessions/log.ts';
import { chargedFields } from '../../usage/consumption/ledger.ts';
import type { ClaimedRun } from '../runs/claims.ts';
import type { UsageUpdate } from './counter.ts';

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
}

const added = measuredFields
  .map((field) => columnsOf('Usage', [field]))
  .map((column) => `${column} = u.${column} + excluded.${column}`);

// One statement: the fence, the session's own sum, the entry. Decimal arithmetic, as in consumption/ledger.ts. Locks
// the run, then the session, in the usual lock order.
const write = `
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
    returning id)
  select used.acus_consumed as acus from used, entry`;

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
  const rows = await context.store.execute<{ acus: number }>(write, [
    run.sessionId,
    run.generation,
    work.entryId,
    work.usedAt,
    work.acus,
    work.agentCostUsd,
    work.source,
    isFenced,
    ...parametersOf('Usage', measuredFields, work.measured),
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
