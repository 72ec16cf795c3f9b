import type { CheckpointContent, MissingPart } from '../../../checkpoints/driver.ts';
import type { Context } from '../../context.ts';

/** A checkpoint that can be restored. */
export interface RestorableCheckpoint {
  readonly id: string;
  readonly kind: string;
  /** The checkpoint before it, or the copied one; null: the first. */
  readonly parentId: string | null;
  readonly agentSessionId: string | null;
  readonly content: CheckpointContent;
  readonly segmentIds: readonly string[];
  readonly files: number;
  readonly bytes: number;
  readonly missing: readonly MissingPart[];
  /** The time of the state: for a rewind or a fork, that of the copied checkpoint. */
  readonly takenAt: Date;
}

/** Maximum number of checkpoints that one start tries. */
const maxCandidates = 25;

// A rewind and a fork have the content of their parents: the one before the parent is next. A parent in another session may be
// read, because its segments were lent; one that was deleted ends the search in time order of the session itself.
const candidates = `
  select c.id, c.kind, c.parent_id as "parentId", c.agent_session_id as "agentSessionId", c.content, c.segment_ids as "segmentIds", c.files, c.bytes::float8 as bytes,
         c.missing, coalesce(case when c.kind in ('REWIND', 'FORK', 'ENVIRONMENT') then p.created_at end, c.created_at) as "takenAt"
    from checkpoint c left join checkpoint p on p.id = c.parent_id
   where c.session_id = $1`;

/** Reads the newest checkpoint of a session and those before it, newest first. Empty: there is none. */
export async function readRestoreCandidates(
  context: Context,
  { sessionId, checkpointId }: { readonly sessionId: string; readonly checkpointId: string },
): Promise<RestorableCheckpoint[]> {
  const [newest] = await context.store.query<RestorableCheckpoint>(`${candidates} and c.id = $2`, [
    sessionId,
    checkpointId,
  ]);
  if (newest === undefined) return [];
  const older = await context.store.query<RestorableCheckpoint>(
    `${candidates} and c.id <> $2 and c.created_at < $3::timestamptz order by c.created_at desc, c.id desc limit $4`,
    [sessionId, checkpointId, newest.takenAt, maxCandidates - 1],
  );
  return [newest, ...older];
}
