import { queryList } from '../../../store/reader.ts';
import type { Context } from '../../context.ts';
import { type SessionOrigin, sessionOrigins } from '../../sessions/session.ts';
import { type MetricsRequest, metricsSource } from './metrics-source.ts';

/** Sizes of sessions, with the upper bound of each in ACUs, exclusive (docs/wire/consumption.md#metrics). */
export const sessionSizes = { xs: 1, s: 3, m: 6, l: 12, xl: null } as const;
/** See {@link sessionSizes}. */
export type SessionSize = keyof typeof sessionSizes;

/** Outcomes of sessions; `open`: not ended. */
export const sessionOutcomes = ['open', 'finished', 'terminated', 'expired', 'failed'] as const;
/** See {@link sessionOutcomes}. */
export type SessionOutcome = (typeof sessionOutcomes)[number];

/** Counts of the sessions that were created in a period, by their current state. */
export interface SessionMetrics {
  readonly count: number;
  /** Null: there are no sessions. */
  readonly averageAcus: number | null;
  readonly withPlaybookCount: number;
  readonly withMergedCount: number;
  readonly byOrigin: Readonly<Record<SessionOrigin, number>>;
  readonly bySize: Readonly<Record<SessionSize, number>>;
  readonly byOutcome: Readonly<Record<SessionOutcome, number>>;
  /** Sessions with a merged pull request. */
  readonly mergedBySize: Readonly<Record<SessionSize, number>>;
  /** The pull requests of these sessions, by state. One that several sessions have counts once, with the last of its states. */
  readonly pullRequests: Readonly<Record<'open' | 'closed' | 'merged', number>>;
}

const sizes = Object.keys(sessionSizes) as SessionSize[];
const size = `case ${sizes.map((name) => (sessionSizes[name] === null ? `else '${name}'` : `when s.acus_consumed < ${sessionSizes[name]} then '${name}'`)).join(' ')} end`;
const outcome = `case s.status when 'error' then 'failed' when 'exit' then coalesce(s.ended_by, 'finished') else 'open' end`;
// A session that reviews a pull request did not make it.
const isMaker = `not exists (select 1 from session_review v where v.session_id = s.id
  and s.pull_requests @> jsonb_build_array(jsonb_build_object('url', v.url)))`;
const hasMerged = `(s.pull_requests @> '[{"state": "merged"}]' and ${isMaker})`;
const states = ['open', 'closed', 'merged'] as const;

// Uses constants only: each member name with the sessions that it counts.
const counts = (names: readonly string[], condition: (name: string) => string) =>
  `jsonb_build_object(${names.map((name) => `'${name}', count(*) filter (where ${condition(name)})`).join(', ')})`;

/** The columns of a {@link SessionMetrics}, for sessions aliased `s`. */
export const sessionMetricsColumns = `
  count(*)::int as count, round(avg(s.acus_consumed::numeric), 6)::float8 as "averageAcus",
  count(*) filter (where s.playbook_id is not null)::int as "withPlaybookCount",
  count(*) filter (where ${hasMerged})::int as "withMergedCount",
  ${counts(sessionOrigins, (name) => `s.origin = '${name}'`)} as "byOrigin",
  ${counts(sizes, (name) => `${size} = '${name}'`)} as "bySize",
  ${counts(sessionOutcomes, (name) => `${outcome} = '${name}'`)} as "byOutcome",
  ${counts(sizes, (name) => `${hasMerged} and ${size} = '${name}'`)} as "mergedBySize",
  (select ${counts(states, (name) => `u.state = '${name}'`)}
     from (select (array['open', 'closed', 'merged'])[max(array_position(array['open', 'closed', 'merged'], p ->> 'state'))] as state
             from jsonb_array_elements(coalesce(jsonb_agg(s.pull_requests) filter (where s.pull_requests <> '[]' and ${isMaker}), '[]')) l,
                  jsonb_array_elements(l) p
            group by p ->> 'url') u) as "pullRequests"`;

/** Counts the sessions created in a period, in one statement. Throws the errors of {@link metricsSource}. */
export async function getSessionMetrics(context: Context, request: MetricsRequest): Promise<SessionMetrics> {
  const { from, values } = await metricsSource(context, request);
  const [row] = await queryList<SessionMetrics>(context.store, `select ${sessionMetricsColumns} from ${from}`, values);
  if (!row) throw new Error('A sum without groups gave no row.');
  return row;
}
