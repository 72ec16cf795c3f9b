import type { Transaction } from '../../store/store.ts';
import type { Services } from '../context.ts';
import { deleteUnusedBuilds } from './delete-builds.ts';
import { deleteCheckpoints, deleteUnusedSegments, markUnusedSegments, pruneCheckpoints } from './delete-checkpoints.ts';

type SweepServices = Pick<Services, 'store' | 'segments' | 'now' | 'checkpoints'>;

/** Times after which sessions lose their checkpoints; null: never. */
export interface CheckpointTimes {
  /** Of a finished or failed session, which a message would resume. */
  readonly workspaceInactiveMs: number | null;
}

/** Sessions in one statement. */
const pageSize = 50;

// Sessions that own segments: also those whose checkpoints are deleted, while forks use their segments.
const page = `
  select distinct session_id as id from checkpoint_segment where session_id > $1 order by session_id limit $2`;

// Archiving a session writes an entry, and does not change the time of its last activity.
const over = `
  select s.id from session s join organization o on o.id = s.organization_id
   where s.id = any($1::text[]) and exists (select 1 from checkpoint c where c.session_id = s.id)
     and not exists (select 1 from lease l where l.session_id = s.id)
     and (o.deleted_at is not null
       or ((s.ended_by in ('terminated', 'expired') or s.is_archived) and s.updated_at < $2::timestamptz
         and (not s.is_archived
           or (select e.created_at from log_entry e where e.session_id = s.id order by e.seq desc limit 1) < $2::timestamptz))
       or (s.status in ('exit', 'error') and s.updated_at < $3::timestamptz))`;

const deleteKeys = `
  delete from checkpoint_key k using organization o
   where o.id = k.organization_id and o.deleted_at is not null
     and not exists (select 1 from checkpoint c where c.organization_id = k.organization_id) returning k.organization_id`;

/**
 * Deletes the unused results of set-ups, the checkpoints of sessions that are over for long, and of deleted organizations with their keys; all others that need
 * not be kept; and the segments that nobody needs any more. Returns the number of deleted segments. May run in several
 * processes at once.
 */
export async function sweepCheckpoints(
  services: SweepServices,
  { workspaceInactiveMs }: CheckpointTimes,
  isStopped: () => boolean,
): Promise<number> {
  const { store, now, checkpoints } = services;
  await deleteUnusedBuilds(services);
  const before = (ms: number | null) => (ms === null ? null : new Date(now().getTime() - ms));
  for (let after = ''; !isStopped(); ) {
    const ids = (await store.query<{ id: string }>(page, [after, pageSize])).map(({ id }) => id);
    const last = ids.at(-1);
    if (last === undefined) break;
    const values = [before(checkpoints.retentionMs), before(workspaceInactiveMs)];
    const overIds = (await store.query<{ id: string }>(over, [ids, ...values])).map(({ id }) => id);
    const stillOver = async (tx: Transaction) =>
      (await tx.query<{ id: string }>(over, [overIds, ...values])).map(({ id }) => id);
    if (overIds.length > 0) await deleteCheckpoints(services, overIds, stillOver);
    while ((await pruneCheckpoints(services, ids)) > 0 && !isStopped());
    while ((await markUnusedSegments(services, ids)) > 0 && !isStopped());
    after = last;
  }
  await store.execute(deleteKeys);
  return deleteUnusedSegments(services, isStopped);
}
