import type { Workspaces } from '../../../agents/sandbox/workspaces.ts';
import type { Context } from '../../context.ts';
import { readSavedRecord } from '../restores/saved-record.ts';
import { isUnused } from './deletable.ts';

/** Options of {@link releaseDue}. */
export interface ReleaseOptions {
  readonly workerId: string;
  /** The time without a change after which a session is released; null: never. */
  readonly workspaceReleaseMs: number | null;
  /** True if this worker runs the session now. */
  isLeased(sessionId: string): boolean;
}

// The workspace here is as the checkpoint has it, and the checkpoint has everything; pipes and sockets are of no use without
// their processes. Afterwards the session has no home: any worker may claim it, and restores the checkpoint.
const release = `
  with stored as (
    select r.session_id from unnest($1::text[], $2::text[]) as n(session_id, checkpoint_id)
      join run r on r.session_id = n.session_id and r.checkpoint_id = n.checkpoint_id
      join session s on s.id = r.session_id join checkpoint c on c.id = r.checkpoint_id
     where r.home_worker_id = $3 and not r.is_restore_requested and ${isUnused}
       and r.workspace_deletion_requested_at is null and r.workspace_deleted_at is null
       and ($4::timestamptz is null or s.updated_at < $4::timestamptz and c.content->>'ignored' is not null
         and not exists (select 1 from jsonb_array_elements(c.missing) m where m->>'reason' <> 'SPECIAL'))
     for update of r skip locked)
  update run r set home_worker_id = null from stored where r.session_id = stored.session_id
  returning r.session_id as "sessionId"`;

// Another worker has gone on with the session, or may do so from a later checkpoint.
const stale = `
  select r.session_id as "sessionId" from unnest($1::text[], $2::text[]) as n(session_id, checkpoint_id)
    join run r on r.session_id = n.session_id join session s on s.id = r.session_id
   where r.checkpoint_id is not null and r.home_worker_id is distinct from $3
     and (r.home_worker_id is not null or r.checkpoint_id is distinct from n.checkpoint_id or s.updated_at < $4::timestamptz)`;

/**
 * Discards the workspaces of sessions that have been inactive for long and whose newest state is stored, and copies of sessions
 * that have moved to another worker. The sessions keep their files: they are restored at the next start. Returns the number of discarded workspaces.
 */
export async function releaseDue(
  context: Context,
  { workerId, workspaceReleaseMs, isLeased }: ReleaseOptions,
  storage: Workspaces,
  sessionIds: readonly string[],
): Promise<number> {
  const ids = sessionIds.filter((id) => !isLeased(id));
  const saved = await readSaved(storage, ids);
  const before = workspaceReleaseMs === null ? null : new Date(context.now().getTime() - workspaceReleaseMs);
  const due = before === null ? [] : await releaseSaved(context, workerId, saved, before);
  const values = [ids, ids.map((id) => saved.get(id) ?? null), workerId, before];
  due.push(...(await context.store.query<{ sessionId: string }>(stale, values)).map(({ sessionId }) => sessionId));
  // Without waiting between the check and the calls, as in discardDue.
  const discarded = due
    .filter((id) => !isLeased(id))
    .map((sessionId) =>
      storage.discard(sessionId).catch((error: unknown) => {
        context.log.warn({ err: error, sessionId }, 'The workspace of a session could not be released.');
        return false;
      }),
    );
  const count = (await Promise.all(discarded)).filter(Boolean).length;
  if (count > 0)
    context.log.info({ count }, 'Workspaces of inactive or moved sessions were released; they are stored.');
  return count;
}

/**
 * Lets any worker claim the sessions whose workspaces here are stored, for a worker that is drained. Their workspaces stay, for
 * the case that this worker claims them again.
 */
export async function releaseStored(
  context: Context,
  workerId: string,
  storage: Workspaces,
  sessionIds: readonly string[],
): Promise<number> {
  return (await releaseSaved(context, workerId, await readSaved(storage, sessionIds), null)).length;
}

async function releaseSaved(
  context: Context,
  workerId: string,
  saved: ReadonlyMap<string, string>,
  before: Date | null,
): Promise<string[]> {
  if (saved.size === 0) return [];
  const rows = await context.store.execute<{ sessionId: string }>(release, [
    [...saved.keys()],
    [...saved.values()],
    workerId,
    before,
  ]);
  return rows.map(({ sessionId }) => sessionId);
}

// The checkpoints with the state of the workspaces, by session.
async function readSaved(storage: Workspaces, ids: readonly string[]): Promise<Map<string, string>> {
  const saved = new Map<string, string>();
  for (const id of ids) {
    const checkpointId = await readSavedRecord(storage.files(id));
    if (checkpointId !== null) saved.set(id, checkpointId);
  }
  return saved;
}
