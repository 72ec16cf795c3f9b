import type { Services } from '../context.ts';

/** Duration of a process's claim on a read. A read that takes longer may be repeated, which changes nothing. */
const leaseMs = 60_000;
/** Concurrent reads of one process through a connection. */
const maxPerConnection = 3;
/** Maximum number of reads of a connection in a minute that no event causes. Each makes a few requests. */
const maxPollsPerMinute = 15;

/** A pull request that this process has claimed for a read. */
export interface ClaimedRead {
  readonly id: string;
  readonly gitConnectionId: string;
  readonly path: string;
  readonly number: number;
  readonly validator: string | null;
  /** Merged or closed, as of the last read. */
  readonly isOver: boolean;
  readonly failureCount: number;
  /** A check failed, as of the last read. */
  readonly isFailing: boolean;
  /** Comments that changed before this time at the forge have been read; null: none were read. */
  readonly commentsSince: Date | null;
  /** An event asks for the read. */
  readonly isWanted: boolean;
  /** The last event; null: none arrives. */
  readonly webhookAt: Date | null;
  readonly claimedAt: Date;
  /** The end of the claim, which also identifies it. */
  readonly claimedUntilAt: Date;
}

// A pause ends early when somebody changes the connection.
const isOpen = `c.deleted_at is null and not exists (
  select 1 from git_connection_pause p
   where p.git_connection_id = c.id and p.paused_until_at > $1::timestamptz and p.paused_at >= c.updated_at)`;

// The reads of a connection `c` in the last minute.
const recent = `(select count(*) from followed_pull_request r
  where r.git_connection_id = c.id and r.read_at > $1::timestamptz - interval '1 minute')`;

/**
 * Claims pull requests that are due for a read: of each connection in turn, those first that an event asks for, and then the
 * longest due. `busy`: the number of this process's reads under way, by connection. May run in several processes at once: one
 * process claims each read, until the claim expires.
 */
export async function claimReads(
  { store, now }: Pick<Services, 'store' | 'now'>,
  busy: ReadonlyMap<string, number>,
  limit: number,
): Promise<ClaimedRead[]> {
  const at = now();
  const claimedUntilAt = new Date(at.getTime() + leaseMs);
  const rows = await store.execute<Omit<ClaimedRead, 'claimedAt' | 'claimedUntilAt'>>(
    `update followed_pull_request f set claimed_until_at = $2::timestamptz, wanted_at = null
       from (
         select due.id, due.wanted_at from git_connection c
           left join unnest($3::text[], $4::int[]) busy(id, count) on busy.id = c.id
           cross join lateral ${recent} recent(count)
           cross join lateral (
             select d.*, row_number() over (order by d.wanted_at is null, d.due_at) as slot from (
               select d.id, d.due_at, d.wanted_at from followed_pull_request d
                where d.git_connection_id = c.id and d.due_at <= $1::timestamptz
                  and (d.claimed_until_at is null or d.claimed_until_at <= $1::timestamptz)
                  and (d.wanted_at is not null or recent.count < $6::int)
                order by d.wanted_at is null, d.due_at
                limit greatest(0, $7::int - coalesce(busy.count, 0)) for update skip locked) d) due
          where ${isOpen}
          order by due.slot, due.due_at limit $5::int) claimed
      where f.id = claimed.id
     returning f.id, f.git_connection_id as "gitConnectionId", f.path, f.number, f.validator,
               f.is_over as "isOver",
               f.failure_count as "failureCount", f.is_failing as "isFailing", f.comments_since as "commentsSince", claimed.wanted_at is not null as "isWanted", f.webhook_at as "webhookAt"`,
    [at, claimedUntilAt, [...busy.keys()], [...busy.values()], limit, maxPollsPerMinute, maxPerConnection],
  );
  return rows.map((row) => ({ ...row, claimedAt: at, claimedUntilAt }));
}

/** Returns the time when the next read is due that this process may claim; null: there is none. */
export async function nextReadAt(
  { store, now }: Pick<Services, 'store' | 'now'>,
  busy: ReadonlyMap<string, number>,
): Promise<Date | null> {
  const full = [...busy].filter(([, count]) => count >= maxPerConnection).map(([id]) => id);
  const [row] = await store.query<{ at: Date | null }>(
    `select min(case when ${recent} < $3::int then due.at else coalesce(due.wanted_at, $1::timestamptz + interval '5 s') end) as at
       from git_connection c
       cross join lateral (
         select min(greatest(d.due_at, coalesce(d.claimed_until_at, d.due_at))) as at, min(greatest(d.wanted_at, case when d.wanted_at is not null then d.claimed_until_at end)) as wanted_at
           from followed_pull_request d where d.git_connection_id = c.id and d.due_at is not null) due
      where due.at is not null and not c.id = any($2::text[]) and ${isOpen}`,
    [now(), full, maxPollsPerMinute],
  );
  return row?.at ?? null;
}
