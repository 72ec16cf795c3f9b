import { newId } from '../../src/domain/ids.ts';

/** Runs a statement on the processes' database. */
export type Query = (sql: string, values: readonly unknown[]) => Promise<Record<string, any>[]>;

const stamp = (at: Date) => at.toISOString().replaceAll(/[-:]|\.\d+/g, '');

/** Inserts automations that are due daily from a given time, spread evenly over this many seconds after it. */
export async function seedDueAutomations(
  query: Query,
  {
    organizationId,
    count,
    from,
    spreadSeconds,
  }: { organizationId: string; count: number; from: Date; spreadSeconds: number },
): Promise<void> {
  const base = Math.ceil(from.getTime() / 1_000) * 1_000;
  const rows = Array.from({ length: count }, (_, n) => {
    const at = new Date(base + Math.floor((n * spreadSeconds) / count) * 1_000);
    const value = `DTSTART:${stamp(at)}\nRRULE:FREQ=DAILY`;
    const conditions = { any: [{ all: [{ field: 'rrule', operator: 'recurrence', value }] }] };
    return {
      id: newId(),
      at: at.toISOString(),
      triggers: [{ eventType: 'schedule:recurring', conditions, replies: [] }],
    };
  });
  await query(
    `insert into automation (id, organization_id, name, is_enabled, run_as, triggers, actions, next_run_at, due_at, created_at, updated_at)
     select r.id, $1, 'Of many', true, 'organization', r.triggers, '[{"type": "start_session", "prompt": "say hello"}]', r.at, r.at, now(), now()
       from jsonb_to_recordset($2::jsonb) r(id text, at timestamptz, triggers jsonb)`,
    [organizationId, JSON.stringify(rows)],
  );
}

/** The runs of all these automations. Times are in ms after each one was due. */
export interface Tally {
  readonly runs: number;
  readonly sessions: number;
  /** Automations with exactly one run and one session, whose next occurrence is a day later. */
  readonly once: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** Counts the runs and sessions of these automations. */
export async function tally(query: Query): Promise<Tally> {
  const [row] = await query(
    `with started as (
       select r.automation_id as id, count(*) as runs, min(r.scheduled_for) as due from automation_run r
        where r.status = 'started' group by 1),
     made as (
       select s.automation_id as id, count(*) as sessions from session s where s.automation_id is not null group by 1),
     each as (
       select a.id, a.next_run_at, coalesce(m.sessions, 0) as sessions, coalesce(r.runs, 0) as runs, r.due
         from automation a left join started r on r.id = a.id left join made m on m.id = a.id where a.name = 'Of many'),
     late as (
       select extract(epoch from s.created_at - e.due) * 1000 as ms from each e join session s on s.automation_id = e.id)
     select (select sum(runs) from each)::int as runs, (select sum(sessions) from each)::int as sessions,
            (select count(*) from each where runs = 1 and sessions = 1 and next_run_at = due + interval '1 day')::int as once,
            (select percentile_cont(0.5) within group (order by ms) from late)::float8 as p50,
            (select percentile_cont(0.99) within group (order by ms) from late)::float8 as p99,
            (select max(ms) from late)::float8 as max`,
    [],
  );
  const rounded = (value: unknown) => Math.round(Number(value ?? 0));
  return {
    runs: row?.runs ?? 0,
    sessions: row?.sessions ?? 0,
    once: row?.once ?? 0,
    p50Ms: rounded(row?.p50),
    p99Ms: rounded(row?.p99),
    maxMs: rounded(row?.max),
  };
}
