import { refuse } from '../../../common/errors.ts';
import { queryList } from '../../../store/reader.ts';
import type { Context } from '../../context.ts';
import { type MetricsRequest, type MetricsSource, metricsSource } from './metrics-source.ts';

/** The active users of a window. */
export interface ActiveUsers {
  readonly startsAt: Date;
  readonly endsAt: Date;
  readonly activeUsers: number;
}

/**
 * Conditions on active users: they have created at least this number of sessions in a window. There are no searches
 * here: `minSearches` has no effect.
 */
export interface ActiveUsersRequest extends MetricsRequest {
  readonly minSessions?: number | undefined;
  readonly minSearches?: number | undefined;
}

const maxMinimum = 1_000_000;

/** Throws INVALID_INPUT for an invalid minimum. */
export function checkMinimum(name: string, value: number): void {
  if (Number.isInteger(value) && value >= 1 && value <= maxMinimum) return;
  throw refuse([name], `"${name}" must be an integer from 1 to ${maxMinimum}, but was ${value}.`);
}

async function activeUsersSource(
  context: Context,
  request: ActiveUsersRequest,
): Promise<MetricsSource & { min: string }> {
  for (const name of ['minSessions', 'minSearches'] as const) checkMinimum(name, request[name] ?? 1);
  const source = await metricsSource(context, request);
  return { ...source, min: source.bind(request.minSessions ?? 1) };
}

/** Counts the active users of a whole period. Throws INVALID_INPUT, and the errors of {@link metricsSource}. */
export async function countActiveUsers(context: Context, request: ActiveUsersRequest): Promise<ActiveUsers> {
  const { period, from, values, min } = await activeUsersSource(context, request);
  const [row] = await queryList<{ n: number }>(context.store, countStatement(from, min), values);
  return { ...period, activeUsers: row?.n ?? 0 };
}

/**
 * Lists the active users of each day, week (from Monday) or month of a period, UTC, in order. The period may cut off
 * the first and the last window; windows that have not begun are left out. Throws the errors of {@link
 * countActiveUsers}.
 */
export async function listActiveUsers(
  context: Context,
  unit: ActiveUsersUnit,
  request: ActiveUsersRequest,
): Promise<ActiveUsers[]> {
  const source = await activeUsersSource(context, request);
  const sql = windowsStatement(context, unit, source);
  return sql === null ? [] : queryList<ActiveUsers>(context.store, sql, source.values);
}

/** Windows of active users: a day, a week from Monday on, a month; all in UTC. */
export type ActiveUsersUnit = 'day' | 'week' | 'month';

/** Counts the users with at least `min` (a parameter) of the sessions of a {@link MetricsSource}'s FROM, as `n`. */
export function countStatement(from: string, min: string): string {
  return `select count(*)::int as n from (
       select s.user_id from ${from} and s.user_id is not null group by s.user_id having count(*) >= ${min}::int) active`;
}

/** Reads the {@link ActiveUsers} of each window that has begun, in order; null: none has. */
export function windowsStatement(
  context: Pick<Context, 'now'>,
  unit: ActiveUsersUnit,
  { period, from, bind, min }: Pick<MetricsSource, 'period' | 'from' | 'bind'> & { readonly min: string },
): string | null {
  const lastStart = Math.min(period.endsAt.getTime() - 1, context.now().getTime());
  if (lastStart < period.startsAt.getTime()) return null;
  const part = bind(unit);
  const [startsAt, endsAt, until] = [bind(period.startsAt), bind(period.endsAt), bind(new Date(lastStart))];
  return `with active as (
       select date_trunc(${part}::text, s.created_at, 'UTC') as at, s.user_id from ${from} and s.user_id is not null
        group by 1, 2 having count(*) >= ${min}::int)
     select greatest(w.at, ${startsAt}::timestamptz) as "startsAt",
            least((w.at at time zone 'UTC' + ('1 ' || ${part})::interval) at time zone 'UTC', ${endsAt}::timestamptz) as "endsAt",
            count(active.user_id)::int as "activeUsers"
       from (select g at time zone 'UTC' as at
               from generate_series(date_trunc(${part}, ${startsAt}::timestamptz at time zone 'UTC'),
                                    ${until}::timestamptz at time zone 'UTC', ('1 ' || ${part})::interval) g) w
       left join active on active.at = w.at
      group by w.at order by w.at`;
}
