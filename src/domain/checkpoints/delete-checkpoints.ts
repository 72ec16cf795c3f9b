import { mayGiveUpFiles } from '../../store/file-deletions.ts';
import type { Transaction } from '../../store/store.ts';
import type { Services } from '../context.ts';
import { isSessionHeld } from '../legal-holds/held.ts';
import { isKept } from './kept-checkpoints.ts';

type StoreServices = Pick<Services, 'store'>;

/** The newest checkpoints of a session that are kept. */
const newestKept = 3;
/** The turns whose ends are kept. */
const turnsKept = 20;
/** Maximum number of checkpoints, or segments, in one statement. */
const batchSize = 500;
/** Age after which a segment that no checkpoint has is taken for the remains of a crash: no upload lasts so long. */
const abandonedMs = 60 * 60_000;

// A transaction that copies a checkpoint, or makes a snapshot of it, locks the run of its session too. A statement sees what was
// committed before it began, so the deletion is one of its own, after the lock: it sees the snapshot, and the statement that looks for
// unused segments sees the copy. A locked session is left for the next time.
const lockFree = `
  select session_id as id from run where session_id = any($1::text[]) order by session_id for update skip locked`;

const prune = `
  with ranked as (
    select c.id, c.kind, c.turn, l.checkpoint_id, l.turn_count, ${isKept} as is_kept,
           row_number() over (partition by c.session_id order by c.created_at desc, c.id desc) as age,
           row_number() over (partition by c.session_id, c.kind, c.turn order by c.created_at desc, c.id desc) as age_in_turn
      from run l join session s on s.id = l.session_id join checkpoint c on c.session_id = l.session_id
     where l.session_id = any($1::text[]) and not ${isSessionHeld}),
  over as (
    select id from ranked
     where age > $2::int and id is distinct from checkpoint_id and not is_kept
       and not (kind = 'TURN_END' and age_in_turn = 1 and turn > turn_count - $3::int)
     limit $4)
  delete from checkpoint c using over where c.id = over.id returning c.id`;

/** Deletes the checkpoints of sessions that need not be kept, unless a legal hold covers the session. Returns their number. */
export async function pruneCheckpoints({ store }: StoreServices, sessionIds: readonly string[]): Promise<number> {
  return store.transact(async (tx) => {
    const ids = (await tx.query<{ id: string }>(lockFree, [sessionIds])).map(({ id }) => id);
    return ids.length === 0 ? 0 : (await tx.query(prune, [ids, newestKept, turnsKept, batchSize])).length;
  });
}

// A statement of its own, after the deletion has committed: it sees every copy that was made before. Pending segments are not
// looked at, because one that becomes a part of a checkpoint meanwhile would be taken for unused.
const markUnused = `
  with free as materialized (select ${mayGiveUpFiles} as is_free)
  update checkpoint_segment g set state = 'UNUSED' from free
   where free.is_free and g.id in (
     select s.id from checkpoint_segment s
      where s.session_id = any($1::text[]) and s.state = 'STORED'
        and not exists (select 1 from checkpoint c where c.session_id = s.session_id and s.id = any(c.segment_ids))
        and not exists (select 1 from checkpoint c where c.lender_ids @> array[s.session_id] and s.id = any(c.segment_ids))
      limit $2)
     and g.state = 'STORED' returning g.id`;

/**
 * Marks the segments of sessions that no checkpoint needs, of these sessions or of those forked from them. Returns their number: 0 while a
 * backup copies files.
 */
export async function markUnusedSegments({ store }: StoreServices, sessionIds: readonly string[]): Promise<number> {
  return (await store.execute(markUnused, [sessionIds, batchSize])).length;
}

const lockAll = 'select 1 from run where session_id = any($1::text[]) order by session_id for update';

const deleteAll = `
  with free as materialized (select s.id from session s where s.id = any($1::text[]) and not ${isSessionHeld}),
  cleared as (
    update run r set checkpoint_id = null, is_restore_requested = false
      from free where r.session_id = free.id and r.checkpoint_id is not null returning r.session_id)
  delete from checkpoint c using free where c.session_id = free.id and not ${isKept} returning c.id`;

/**
 * Deletes all checkpoints of sessions, except those of snapshots and of sessions that a legal hold covers. Their next agents begin without one. `stillOver` returns the sessions of
 * which this is still true after all were locked: meanwhile a message may have resumed one. Returns the number of checkpoints.
 */
export async function deleteCheckpoints(
  { store }: StoreServices,
  sessionIds: readonly string[],
  stillOver: (tx: Transaction) => Promise<readonly string[]> = async () => sessionIds,
): Promise<number> {
  return store.transact(async (tx) => {
    await tx.query(lockAll, [sessionIds]);
    return (await tx.query(deleteAll, [await stillOver(tx)])).length;
  });
}

const dropAbandoned = `
  update checkpoint_segment g set state = 'UNUSED'
   where g.id in (select id from checkpoint_segment where state = 'PENDING' and created_at < $1::timestamptz limit $2)
     and g.state = 'PENDING' returning g.id`;

const unused = `select id from checkpoint_segment where state = 'UNUSED' order by created_at, id limit $1`;

/** Deletes unused and abandoned segments from the storage, then their rows. Returns their number. */
export async function deleteUnusedSegments(
  { store, segments, now }: Pick<Services, 'store' | 'segments' | 'now'>,
  isStopped: () => boolean,
): Promise<number> {
  const before = new Date(now().getTime() - abandonedMs);
  while ((await store.execute(dropAbandoned, [before, batchSize])).length === batchSize) if (isStopped()) return 0;
  let count = 0;
  while (!isStopped()) {
    const ids = (await store.query<{ id: string }>(unused, [batchSize])).map(({ id }) => id);
    if (ids.length === 0) break;
    // Another process may delete the same ones.
    const deleted = await segments.deleteMany(ids);
    await store.execute(`delete from checkpoint_segment where id = any($1::text[]) and state = 'UNUSED' returning id`, [
      deleted,
    ]);
    count += deleted.length;
    if (deleted.length < ids.length) break;
  }
  return count;
}
