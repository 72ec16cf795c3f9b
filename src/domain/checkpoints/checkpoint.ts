import type { CheckpointContent, MissingPart } from '../../checkpoints/driver.ts';
import { type Field, fieldsOf, type Narrowed, selectFields } from '../../store/tables.ts';
import type { Services } from '../context.ts';

/**
 * WORK: while a turn was open. TURN_END: at the end of a turn. HANDOVER: before a stop, a sleep, or another worker. REWIND and
 * FORK: a copy of an earlier one, with which the session began again, or began. ENVIRONMENT: a copy of the stored result of a set-up,
 * with which the session began.
 */
export type CheckpointKind = 'WORK' | 'TURN_END' | 'HANDOVER' | 'REWIND' | 'FORK' | 'ENVIRONMENT';

/** The values of the fields whose columns have a wider type. */
interface CheckpointValues {
  readonly kind: CheckpointKind;
  readonly content: CheckpointContent;
  readonly missing: readonly MissingPart[];
}

/** The state of a session's workspace and home at one time. */
export type CheckpointRecord = Narrowed<'Checkpoint', Field<'Checkpoint'>, CheckpointValues>;

const columns = selectFields('Checkpoint', 'c', fieldsOf('Checkpoint'));

/** Reads the checkpoint with which the session's next agent begins; null: none. */
export async function readNewestCheckpoint(
  { store }: Pick<Services, 'store'>,
  sessionId: string,
): Promise<CheckpointRecord | null> {
  const [row] = await store.query<CheckpointRecord>(
    `select ${columns} from run r join checkpoint c on c.id = r.checkpoint_id where r.session_id = $1`,
    [sessionId],
  );
  return row ?? null;
}

/** Reads one checkpoint of a session; null: the session has none of this id. */
export async function readCheckpoint(
  { store }: Pick<Services, 'store'>,
  { sessionId, id }: Pick<CheckpointRecord, 'sessionId' | 'id'>,
): Promise<CheckpointRecord | null> {
  const [row] = await store.query<CheckpointRecord>(
    `select ${columns} from checkpoint c where c.id = $2 and c.session_id = $1`,
    [sessionId, id],
  );
  return row ?? null;
}

/** Returns the ids of all segments that a content needs, without duplicates. */
export function segmentsOf({ files, ignored }: CheckpointContent): string[] {
  return [...new Set([...files.segments, ...(ignored?.segments ?? [])])];
}
