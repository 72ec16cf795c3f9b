import type pg from 'pg';

/** The amounts of data. */
export interface Seed {
  /** Unprefixed. */
  readonly organizationId: string;
  readonly sessions: number;
  readonly entriesEach: number;
  /** The owner of the sessions; the first user if missing. */
  readonly userId?: string;
}

/** One of this many sessions is archived, or has the status ERROR. */
export const everyTenth = 10;
/** Every session has one of this many tags, `kind-0` and so on. */
export const kinds = 100;
/** One of this many log entries is a tool call; the others are messages. */
const everyFifth = 5;

// Common columns: ids in the order of their times, like UUIDv7; one session every 20 seconds, the last one an hour ago.
const id = (at: string, salt: string) =>
  `lpad(to_hex((extract(epoch from ${at}) * 1000)::bigint), 12, '0') || substr(md5(${salt}), 1, 20)`;

const sessions = `
  insert into session (id, organization_id, title, is_title_derived, status, ended_by, is_archived, origin, tags, prompt,
                       acus_consumed, pull_requests, structured_output, user_id, created_at, updated_at)
  select ${id('t.at', `'s' || n`)}, $1, 'Session number ' || n || ' of the bench', false,
         case when n % ${everyTenth} = 1 then 'error' else 'exit' end,
         case when n % ${everyTenth} = 1 then null else 'finished' end,
         n % ${everyTenth} = 2, 'api', array['team-' || n % 20, 'kind-' || n % ${kinds}], 'Do what number ' || n || ' says.',
         n % 7 * 0.5, case when n % 3 = 0 then jsonb_build_array(jsonb_build_object('url', 'https://git.example/pull/' || n, 'state', 'open'))
                      else '[]' end,
         case when n % 4 = 0 then jsonb_build_object('answer', n) end,
         coalesce($5, (select id from user_account order by id limit 1)), t.at, t.at + interval '9 seconds'
    from generate_series($3::int, $4::int) n
   cross join lateral (select date_trunc('hour', now()) - interval '1 hour' - ($2::int - n) * interval '20 seconds' as at) t`;

const heads =
  'insert into session_head (session_id, next_seq) select id, $1::int + 1 from session where organization_id = $2';

const tags = `
  insert into session_tag (organization_id, tag, created_at, session_id)
  select organization_id, unnest(tags), created_at, id from session where organization_id = $1`;

const entries = `
  insert into log_entry (session_id, seq, id, kind, message_type, body, data, created_at)
  select s.id, n, ${id(`s.created_at + n * interval '1 second'`, `s.id || n`)},
         case when n % ${everyFifth} = 0 then 'TOOL_CALL' else 'MESSAGE' end,
         case when n % ${everyFifth} = 0 then null when n = 1 then 'initial_user_message' else 'agent_message' end,
         case when n % ${everyFifth} = 0 then null else 'Message ' || n || ' of this session: a line as long as they are, more or less.' end,
         case when n % ${everyFifth} = 0 then '{"toolCallId":"t","title":"Read a file","status":"completed"}'::jsonb end,
         s.created_at + n * interval '1 second'
    from (select id, created_at from session where organization_id = $4 order by created_at, id limit $2 offset $3) s cross join generate_series(1, $1::int) n`;

/** The number of sessions per statement, so that progress can be reported in between. */
const batch = 50_000;

/** Fills an organization without sessions with the rows that a server's own writes would leave. */
export async function seed(
  client: Pick<pg.Client, 'query'>,
  { organizationId, sessions: count, entriesEach, userId }: Seed,
  onProgress: (text: string) => void = () => undefined,
): Promise<void> {
  for (let from = 1; from <= count; from += batch) {
    await client.query(sessions, [organizationId, count, from, Math.min(count, from + batch - 1), userId ?? null]);
  }
  await client.query(heads, [entriesEach, organizationId]);
  await client.query(tags, [organizationId]);
  for (let from = 0; from < count; from += batch) {
    await client.query(entries, [entriesEach, batch, from, organizationId]);
    if (count > batch) onProgress(`  ${Math.min(count, from + batch) * entriesEach} log entries`);
  }
  await client.query('analyze');
}
