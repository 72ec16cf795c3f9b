import type { NewSegment, SavedState } from '../../../checkpoints/driver.ts';
import type { Row } from '../../../store/tables.ts';
import { type CheckpointKind, segmentsOf } from '../../checkpoints/checkpoint.ts';
import type { Services } from '../../context.ts';
import { newId } from '../../ids.ts';
import { FencedError } from '../../sessions/log.ts';
import type { ClaimedRun } from '../runs/claims.ts';

type RowServices = Pick<Services, 'store' | 'now'>;
type Fence = Pick<ClaimedRun, 'sessionId' | 'generation'>;

/** The point of a session that a checkpoint belongs to. It is read before the files are. */
export type CheckpointPoint = Pick<Row<'Checkpoint'>, 'turn' | 'seq' | 'agentSessionId'>;

/** Reads the point that a session has reached. Throws FencedError. */
export async function readPoint({ store }: RowServices, { sessionId, generation }: Fence): Promise<CheckpointPoint> {
  const [row] = await store.query<CheckpointPoint>(
    `select r.turn_count as turn, h.next_seq - 1 as seq, r.agent_session_id as "agentSessionId"
       from run r join session_head h on h.session_id = r.session_id
      where r.session_id = $1 and r.generation = $2 and h.generation = $2`,
    [sessionId, generation],
  );
  if (!row) throw new FencedError(sessionId);
  return row;
}

const addPending = `
  with fence as (
    select s.id, s.organization_id from session s join session_head h on h.session_id = s.id
     where s.id = $1 and h.generation = $2),
  added as (
    insert into checkpoint_segment (id, session_id, organization_id, bytes, state, created_at)
    select n.id, fence.id, fence.organization_id, n.bytes, 'PENDING', $5::timestamptz
      from fence cross join unnest($3::text[], $4::bigint[]) as n(id, bytes)
    on conflict (id) do nothing returning id)
  select (select count(*)::int from fence) as fences, (select count(*)::int from added) as added`;

/** Records segments before they are uploaded, so that they are deleted if a crash follows. Throws FencedError. */
export async function addPendingSegments(
  { store, now }: RowServices,
  { sessionId, generation }: Fence,
  segments: readonly Pick<NewSegment, 'id' | 'bytes'>[],
): Promise<void> {
  if (segments.length === 0) return;
  const [ids, bytes] = [segments.map((each) => each.id), segments.map((each) => each.bytes)];
  const [row] = await store.execute<{ fences: number; added: number }>(addPending, [
    ...[sessionId, generation, ids, bytes],
    now(),
  ]);
  if (!row?.fences) throw new FencedError(sessionId);
  if (row.added !== segments.length) throw new Error(`A segment of the session ${sessionId} has an id that is in use.`);
}

/** Gives up segments that no checkpoint will need, so that they are deleted soon. Those of a recorded checkpoint stay. */
export async function dropPendingSegments(
  { store }: RowServices,
  { sessionId }: Fence,
  segments: readonly Pick<NewSegment, 'id'>[],
): Promise<void> {
  await store.execute(
    `update checkpoint_segment set state = 'UNUSED' where id = any($2::text[]) and session_id = $1 and state = 'PENDING'`,
    [sessionId, segments.map(({ id }) => id)],
  );
}

// Locks as every writer does: run, then head. New segments become STORED with the row that needs them, and all others must
// still be there. Otherwise nothing of the checkpoint is written.
const record = `
  with fence as (
    select r.session_id, s.organization_id, r.checkpoint_id
      from run r join session_head h on h.session_id = r.session_id join session s on s.id = r.session_id
     where r.session_id = $1 and r.generation = $2 and h.generation = $2 for update of r, h),
  stored as (
    update checkpoint_segment g set state = 'STORED' from fence
     where g.id = any($4::text[]) and g.session_id = fence.session_id and g.state = 'PENDING' returning g.id),
  needed as (
    select g.id, g.session_id from checkpoint_segment g join fence on g.organization_id = fence.organization_id
     where g.id = any($5::text[]) and g.state in ('PENDING', 'STORED')),
  added as (
    insert into checkpoint (id, session_id, organization_id, generation, parent_id, kind, turn, seq, agent_session_id,
           content, segment_ids, lender_ids, files, bytes, stored_bytes, missing, created_at)
    select $3, fence.session_id, fence.organization_id, $2, fence.checkpoint_id, $6, $7::int, $8::int, $9,
           $10::jsonb, $5::text[], array(select distinct session_id from needed where session_id <> $1 order by session_id),
           $11::int, $12::bigint, $13::bigint, $14::jsonb, $15::timestamptz
      from fence
     where (select count(*) from stored) = cardinality($4::text[])
       and (select count(*) from needed) = cardinality($5::text[])
    returning id),
  moved as (
    update run r set checkpoint_id = added.id from added where r.session_id = $1 returning r.session_id)
  select (select count(*)::int from fence) as fences, (select count(*)::int from moved) as added`;

/** A checkpoint to record. */
export interface NewCheckpoint {
  readonly kind: CheckpointKind;
  readonly point: CheckpointPoint;
  /** Its new segments are uploaded. */
  readonly state: SavedState;
}

/** The result of {@link recordCheckpoint}. */
export type RecordedCheckpoint = Pick<Row<'Checkpoint'>, 'id' | 'createdAt'>;

/**
 * Records a saved state as the session's newest checkpoint. Throws FencedError, and an error if a segment is missing: then
 * nothing is written.
 */
export async function recordCheckpoint(
  { store, now }: RowServices,
  { sessionId, generation }: Fence,
  { kind, point, state }: NewCheckpoint,
): Promise<RecordedCheckpoint> {
  const { content, segments, files, bytes, missing } = state;
  const [id, createdAt] = [newId(), now()];
  const storedBytes = segments.reduce((sum, segment) => sum + segment.bytes, 0);
  const [row] = await store.execute<{ fences: number; added: number }>(record, [
    ...[sessionId, generation, id, segments.map((segment) => segment.id), segmentsOf(content)],
    ...[kind, point.turn, point.seq, point.agentSessionId, JSON.stringify(content)],
    ...[files, bytes, storedBytes, JSON.stringify(missing), createdAt],
  ]);
  if (!row?.fences) throw new FencedError(sessionId);
  if (row.added === 0) throw new Error(`A segment of a checkpoint of the session ${sessionId} is missing.`);
  return { id, createdAt };
}
