import { DomainError } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import type { CheckpointKind } from '../../checkpoints/checkpoint.ts';
import { newId } from '../../ids.ts';
import type { SessionCheckpoint } from './checkpoints.ts';

/** A copy of a checkpoint, which has the same content and stores nothing. */
export interface CheckpointCopy {
  /** Unprefixed. */
  readonly id?: string;
  readonly from: Pick<SessionCheckpoint, 'id'>;
  /** The session that gets the copy, and the generation of its run. */
  readonly sessionId: string;
  readonly generation: number;
  readonly kind: Extract<CheckpointKind, 'REWIND' | 'FORK' | 'ENVIRONMENT'>;
  /** The turn and the entry of the log that the copy stands for in the session that gets it. */
  readonly turn: number;
  readonly seq: number;
  /** True if the agent continues its own session of the checkpoint. */
  readonly withAgentSession: boolean;
  readonly now: Date;
}

// The sessions that own its segments lend them to a copy of another session. All segments must still be there.
const insertCopy = `
  with needed as (
    select g.session_id from checkpoint c join checkpoint_segment g on g.id = any(c.segment_ids) and g.organization_id = c.organization_id
     where c.id = $9 and g.state = 'STORED')
  insert into checkpoint (id, session_id, organization_id, generation, parent_id, kind, turn, seq, agent_session_id, content, segment_ids,
                          lender_ids, files, bytes, stored_bytes, missing, created_at)
  select $1, $2, c.organization_id, $3::int, c.id, $4, $5::int, $6::int, case when $7::boolean then c.agent_session_id end, c.content,
         c.segment_ids, array(select distinct session_id from needed where session_id <> $2 order by session_id),
         c.files, c.bytes, 0, c.missing, $8::timestamptz
    from checkpoint c where c.id = $9 and (select count(*) from needed) = cardinality(c.segment_ids)
  returning agent_session_id as "agentSessionId"`;

// The next start restores the copy, and opens the agent's session of that time.
const beginWith = `
  update run set checkpoint_id = $2, is_restore_requested = true, agent_session_id = $3 where session_id = $1`;

/**
 * Locks a session for copies of its checkpoints, until the transaction ends. A transaction
 * must lock the run of a session before it deletes its checkpoints or segments.
 */
export async function lockCheckpoints(tx: Transaction, sessionId: string): Promise<void> {
  await tx.query('select 1 from run where session_id = $1 for share', [sessionId]);
}

/**
 * Makes a copy of a checkpoint the newest one of a session, and requests its restoration at the next start. The transaction has locked
 * the run of the checkpoint's session. Returns the id of the copy. Throws INVALID_STATE if the content is not complete any more.
 */
export async function beginWithCopy(tx: Transaction, copy: CheckpointCopy): Promise<string> {
  const { id = newId(), from, sessionId, generation, kind, turn, seq, withAgentSession, now } = copy;
  const values = [id, sessionId, generation, kind, turn, seq, withAgentSession, now, from.id];
  const [row] = await tx.query<{ agentSessionId: string | null }>(insertCopy, values);
  if (!row) throw new DomainError('INVALID_STATE', 'The files of the checkpoint were deleted.');
  await tx.query(beginWith, [sessionId, id, row.agentSessionId]);
  return id;
}
