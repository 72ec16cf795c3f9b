import type { Transaction } from '../../store/store.ts';
import type { Context, Services } from '../context.ts';
import { asSystem } from './as-system.ts';
import type { SessionRecord } from './session.ts';
import { lockRunAndSession, sleepLocked } from './suspend-session.ts';
import { endForGood } from './terminate-session.ts';

/** Number of sessions read at once. */
const batchSize = 100;

interface IdleRow {
  readonly id: string;
  readonly enterpriseId: string;
  readonly updatedAt: Date;
}

const waits = `s.status = 'running' and s.status_detail in ('waiting_for_user', 'waiting_for_approval')`;

/** Column values of `session_change` for waiting and for suspended sessions. */
const idleness = { idle: 'waiting', asleep: 'asleep' } as const;

// A session with a message that waits for a free slot is not idle: the user has answered. Messages that wait since their
// user stopped the session are not in the queue.
const isUnanswered = `
  exists (select 1 from run r join log_entry e on e.session_id = r.session_id
           where r.session_id = s.id and r.queued_at is not null and e.seq > r.delivered_seq and e.message_type is not null
             and e.message_type <> 'agent_message' and not e.seq = any(r.answered_seqs))`;

// An agent may continue to work while its question is open; then its log grows, too. A session that was archived, or resumed without
// work, has a new entry but no activity.
const hasNewEntry = `
  coalesce((select e.created_at >= $1::timestamptz from log_entry e
             where e.session_id = s.id order by e.seq desc limit 1), false)`;

const conditions = {
  idle: `${waits} and s.updated_at < $1::timestamptz and not ${hasNewEntry} and not ${isUnanswered}`,
  asleep: `s.status = 'suspended' and s.updated_at < $1::timestamptz and not ${hasNewEntry}`,
} as const;

/** Sessions that wait or are suspended for too long, the longest first, after a cursor in that order. */
const candidates = (which: keyof typeof conditions) => `
  select s.id, o.enterprise_id as "enterpriseId", c.updated_at as "updatedAt"
    from session_change c join session s on s.id = c.session_id
    join organization o on o.id = s.organization_id and o.deleted_at is null
   where c.idleness = '${idleness[which]}' and c.updated_at < $1::timestamptz and ${conditions[which]}
     and (c.updated_at, c.session_id) > ($2::timestamptz, $3::text)
   order by c.updated_at, c.session_id limit $4`;

/**
 * Suspends sessions that have waited for the user for longer than `idleMs`: their agents stop, and a message wakes
 * them. Returns their number. May run in several processes at once: each session is suspended by one of them.
 */
export function suspendIdleSessions(services: Services, idleMs: number, isStopping: () => boolean): Promise<number> {
  const forHowLong = durationOf(idleMs);
  return each(services, 'idle', idleMs, isStopping, async (context, tx, session) => {
    const body = `The session went to sleep after waiting for the user for ${forHowLong}. A message wakes it.`;
    await sleepLocked(context, tx, session, { statusDetail: 'inactivity', requestFrom: null, endsTurn: false }, [
      { kind: 'NOTICE', body },
    ]);
  });
}

/**
 * Ends sessions permanently that have been suspended, or waited for the user, for longer than `expiryMs`. Sessions that
 * finished or failed do not change. Returns their number. May run in several processes at once.
 */
export async function expireSessions(services: Services, expiryMs: number, isStopping: () => boolean): Promise<number> {
  const body = `The session expired after no activity for ${durationOf(expiryMs)}.`;
  const expire = async (context: Context, tx: Transaction, session: SessionRecord) => {
    await endForGood(context, tx, session, {}, 'expired', [{ kind: 'NOTICE', body }]);
  };
  const asleep = await each(services, 'asleep', expiryMs, isStopping, expire);
  return asleep + (await each(services, 'idle', expiryMs, isStopping, expire));
}

type Act = (context: Context, tx: Transaction, session: SessionRecord) => Promise<void>;

async function each(
  services: Services,
  which: keyof typeof conditions,
  ageMs: number,
  isStopping: () => boolean,
  act: Act,
): Promise<number> {
  const before = new Date(services.now().getTime() - ageMs);
  const condition = conditions[which];
  let count = 0;
  let cursor: Pick<IdleRow, 'id' | 'updatedAt'> = { id: '', updatedAt: new Date(0) };
  for (;;) {
    const rows = await services.store.query<IdleRow>(candidates(which), [
      before,
      cursor.updatedAt,
      cursor.id,
      batchSize,
    ]);
    for (const { id, enterpriseId } of rows) {
      if (isStopping()) return count;
      const context = asSystem(services, enterpriseId);
      try {
        const isDone = await services.store.transact(async (tx) => {
          // The rows were read without a lock: another process may have been first, or the user may have answered.
          const session = await lockRunAndSession(tx, id);
          const still = await tx.query(`select 1 from session s where s.id = $2 and ${condition}`, [before, id]);
          if (still.length > 0) await act(context, tx, session);
          return still.length > 0;
        });
        if (isDone) count += 1;
      } catch (error) {
        services.log.error(
          { err: error, sessionId: id },
          'A session that waits or sleeps for long could not be changed.',
        );
      }
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < batchSize) return count;
    cursor = last;
  }
}

function durationOf(ms: number): string {
  const [amount, unit] =
    ms >= 2 * 86_400_000
      ? [ms / 86_400_000, 'days']
      : ms >= 2 * 3_600_000
        ? [ms / 3_600_000, 'hours']
        : ms >= 60_000
          ? [ms / 60_000, 'minutes']
          : [ms / 1_000, 'seconds'];
  return `${Math.round(Number(amount) * 10) / 10} ${unit}`;
}
