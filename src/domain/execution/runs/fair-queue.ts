import type { Context } from '../../context.ts';

/** Time after its end in which a lease still counts: its worker must have stopped its agents by then. */
export const graceMs = 5_000;

/** Maximum number of queue groups that one poll reads, and of polls of one claim. */
const maxGroups = 256;
const maxPolls = 8;

/** The sessions of one user in one organization that have their workspace on one worker, or on none. */
interface QueueGroup {
  readonly organizationId: string;
  readonly principalId: string;
  /** The worker's id; empty: none. */
  readonly home: string;
}

/**
 * The start of the next poll of the queue. One for each worker; it matters only with more than {@link maxGroups} queue
 * groups.
 */
export interface QueueCursor {
  after: QueueGroup | null;
}

/** A session that may be claimed now. */
export interface Candidate {
  readonly sessionId: string;
  /** The generation at the time of the poll. */
  readonly generation: number;
}

/** The worker that polls the queue. */
export interface QueuePoller {
  readonly workerId: string;
  /** Time that a session waits for a dead worker with its workspace before another worker may claim it. */
  readonly affinityMs: number;
  /** The same if a checkpoint can be restored instead; missing: the same time. */
  readonly storedAffinityMs?: number;
  readonly cursor?: QueueCursor;
}

const groupColumns = `organization_id, principal_id, coalesce(home_worker_id, '')`;

// A loose index scan: each step goes directly to the next queue group in the index, past all other rows of the current
// one.
const readGroups = `
  with recursive queue_group(o, p, h) as (
    (select ${groupColumns} from run where queued_at is not null and (${groupColumns}) > ($1, $2, $3) order by ${groupColumns} limit 1)
    union all
    select n.* from queue_group cross join lateral (
      select ${groupColumns} from run where queued_at is not null and (${groupColumns}) > (queue_group.o, queue_group.p, queue_group.h)
       order by ${groupColumns} limit 1) n)
  select o as "organizationId", p as "principalId", h as home from queue_group limit $4`;

/**
 * The running sessions of each user in each organization. A session counts while a worker leases it and it has work:
 * also while it waits for the answer to a question, since its agent keeps its slot, but not while its agent is only
 * kept warm. $2: {@link graceMs}.
 */
export const runningSessions = `
  select r.organization_id, r.principal_id, count(*)::int as n from lease l join run r on r.session_id = l.session_id
   where l.expires_at >= now() - $2::int * interval '1 millisecond' and r.queued_at is not null group by 1, 2`;

/**
 * Returns an organization's limit: its own, where 0 means none, or else the default in the SQL expression `variable`.
 */
export const organizationLimit = (variable: string): string =>
  `nullif(coalesce(o.max_concurrent_sessions, ${variable}), 0)`;

// A session with an unanswered question has no work for an agent: it may be claimed once there is an answer.
const isForUserToAnswer = `
  s.status = 'running' and s.status_detail in ('waiting_for_user', 'waiting_for_approval')
  and not exists (select 1 from log_entry e where e.session_id = r.session_id and e.message_type is not null
    and e.message_type <> 'agent_message' and e.seq > r.delivered_seq and not e.seq = any(r.answered_seqs))`;

// The time that a session waits for the worker with its workspace.
const affinity = `case when queue_group.home in ('', $3) then 0 when r.checkpoint_id is null then $4::int else $12::int end`;

// Each session is ranked as if those before it ran already: first within its user, by age, then within its
// organization, by the rank within its user. The result is the order of choosing, again and again, the organization
// with the fewest running sessions, in it the user with the fewest, and of that user the oldest session. Age decides
// between equals. Sessions of another worker are selected only if that worker is dead, and only after the time that
// they wait for it. Sessions whose agent only other workers have are left to these.
const ranked = `
  with running as materialized (${runningSessions}),
  organization_running as (select organization_id, sum(n)::int as n from running group by 1),
  queue_group as (
    select x.*, coalesce(u.n, 0) as user_n, coalesce(g.n, 0) as organization_n,
           ${organizationLimit('$9::int')} as organization_limit
      from unnest($5::text[], $6::text[], $7::text[]) as x(organization_id, principal_id, home)
      join organization o on o.id = x.organization_id and o.deleted_at is null
      left join running u on u.organization_id = x.organization_id and u.principal_id = x.principal_id
      left join organization_running g on g.organization_id = x.organization_id
     where x.home in ('', $3) or not exists (select 1 from worker h where h.id = x.home
             and h.expires_at > now() - least($4::int, $12::int) * interval '1 millisecond')),
  by_user as (
    select queue_group.*, c.*, queue_group.user_n + row_number() over (
             partition by queue_group.organization_id, queue_group.principal_id order by c.queued_at, c.session_id) as user_rank
      from queue_group cross join lateral (
        select r.session_id, r.generation, r.queued_at
          from run r join session s on s.id = r.session_id left join lease l on l.session_id = r.session_id
         where r.queued_at is not null and r.organization_id = queue_group.organization_id
           and r.principal_id = queue_group.principal_id and coalesce(r.home_worker_id, '') = queue_group.home
           and r.queued_at <= $1::timestamptz - ${affinity} * interval '1 millisecond'
           and (l.session_id is null or l.expires_at < now() - ($2::int + ${affinity}) * interval '1 millisecond')
           and (queue_group.home in ('', $3) or not exists (select 1 from worker h where h.id = queue_group.home
             and h.expires_at > now() - ${affinity} * interval '1 millisecond'))
           and not (${isForUserToAnswer}) and not coalesce(s.agent, '') = any($11::text[])
         order by r.queued_at limit $8) c
     where ($10::int is null or queue_group.user_n < $10::int)
       and (queue_group.organization_limit is null or queue_group.organization_n < queue_group.organization_limit)),
  by_organization as (
    select b.*, b.organization_n + row_number() over (
             partition by b.organization_id order by b.user_rank, b.queued_at, b.session_id) as organization_rank
      from by_user b where $10::int is null or b.user_rank <= $10::int)
  select session_id as "sessionId", generation from by_organization
   where organization_limit is null or organization_rank <= organization_limit
   order by organization_rank, queued_at, session_id limit $8`;

/**
 * Reads sessions that the worker may claim now, at most `max`, in the order of fair shares and within the limits of
 * concurrent sessions. One poll reads at most {@link maxGroups} times `max` waiting sessions, however many wait,
 * besides those that run or have a pending question.
 */
export async function readCandidates(
  context: Context,
  query: Context['store']['query'],
  { workerId, affinityMs, storedAffinityMs = affinityMs, cursor = { after: null } }: QueuePoller,
  max: number,
): Promise<Candidate[]> {
  const { perOrganization, perUser } = context.concurrencyLimits;
  for (let poll = 0; poll < maxPolls; poll++) {
    const { after } = cursor;
    const from = after ?? { organizationId: '', principalId: '', home: '' };
    const groups = await query<QueueGroup>(readGroups, [from.organizationId, from.principalId, from.home, maxGroups]);
    cursor.after = groups.length < maxGroups ? null : (groups.at(-1) ?? null);
    const columns = [groups.map((l) => l.organizationId), groups.map((l) => l.principalId), groups.map((l) => l.home)];
    const found =
      groups.length === 0
        ? []
        : await query<Candidate>(ranked, [
            ...[context.now(), graceMs, workerId, affinityMs, ...columns],
            ...[max, perOrganization, perUser, context.agents.elsewhereIds, storedAffinityMs],
          ]);
    // Nothing follows, and the poll started at the beginning.
    if (found.length > 0 || (cursor.after === null && after === null)) return found;
  }
  return [];
}
