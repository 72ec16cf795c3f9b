import { z } from 'zod';
import { DomainError, notFound, refuse } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import { parseId } from '../../ids.ts';
import { parseInput } from '../../input.ts';
import type { SessionRecord } from '../session.ts';
import { checkpointColumns, type SessionCheckpoint } from './checkpoints.ts';

/** A point of a session's work: one of its checkpoints, or the end of a turn. Exactly one member; null counts as missing. */
export interface SessionPoint {
  /** The id of a checkpoint in any form. */
  readonly checkpointId?: string | null | undefined;
  /** The number of a turn that has ended. */
  readonly turn?: number | null | undefined;
}

/** The path of the members in the inputs of the domain. */
const at = 'point';

/** The limits of a {@link SessionPoint}. */
export const sessionPointSchema = z.object({
  checkpointId: z.string().nullish(),
  turn: z
    .int({ error: '"turn" must be a whole number.' })
    .min(1, { error: (issue) => `"turn" must be at least 1, but was ${issue.input}.` })
    .max(2_147_483_647, { error: (issue) => `"turn" must be at most 2147483647, but was ${issue.input}.` })
    .nullish(),
});

const byId = `select ${checkpointColumns} from checkpoint c where c.id = $1 and c.session_id = $2`;
const newest = `
  select ${checkpointColumns} from checkpoint c join run r on r.session_id = c.session_id
   where c.session_id = $1 and c.id = r.checkpoint_id`;
// The last save of a turn's work is as good if nothing changed until its end.
const ofTurn = `
  select ${checkpointColumns} from checkpoint c
   where c.session_id = $1 and c.turn = $2 and c.kind in ('TURN_END', 'WORK', 'HANDOVER')
   order by c.kind = 'TURN_END' desc, c.created_at desc, c.id desc limit 1`;

const turnState = `
  select r.turn_count as "lastTurn", r.turn_count = $2::int and r.is_turn_open as "isOpen" from run r where r.session_id = $1`;

/**
 * Returns the checkpoint of a session that an input names; without an input the newest one. The caller has checked that the viewer may act
 * on the session, and has locked its run, so that the checkpoint is not deleted meanwhile. Throws INVALID_INPUT at `point`, NOT_FOUND for a checkpoint that is missing
 * or of another session, and INVALID_STATE for a turn without one.
 */
export async function chooseCheckpoint(
  tx: Transaction,
  session: Pick<SessionRecord, 'id'>,
  raw: SessionPoint | null,
): Promise<SessionCheckpoint> {
  if (raw === null) return (await readOne(tx, newest, session.id)) ?? none('The session has no checkpoint yet.');
  const { checkpointId = null, turn = null } = parseInput(sessionPointSchema, raw, [at]);
  if ((checkpointId === null) === (turn === null)) {
    throw refuse([at], 'Exactly one of "checkpointId" and "turn" must be given.');
  }
  if (turn !== null) return chooseTurn(tx, session.id, turn);
  const id = parseId('checkpoint', checkpointId ?? '');
  const found = id === null ? null : await readOne(tx, byId, id, session.id);
  if (!found) throw notFound('checkpoint');
  return found;
}

async function chooseTurn(tx: Transaction, sessionId: string, turn: number): Promise<SessionCheckpoint> {
  const [state] = await tx.query<{ lastTurn: number; isOpen: boolean }>(turnState, [sessionId, turn]);
  const lastTurn = state?.lastTurn ?? 0;
  if (turn > lastTurn) {
    const message = `"turn" must be at most ${lastTurn}, the last turn of the session, but was ${turn}.`;
    throw refuse([at, 'turn'], lastTurn === 0 ? 'The session has had no turn yet.' : message);
  }
  if (state?.isOpen === true) none(`Turn ${turn} has not ended.`);
  return (
    (await readOne(tx, ofTurn, sessionId, turn)) ??
    none(`There is no checkpoint of turn ${turn}: none was saved, or it was deleted.`)
  );
}

async function readOne(tx: Transaction, sql: string, ...values: readonly unknown[]): Promise<SessionCheckpoint | null> {
  const [found] = await tx.query<SessionCheckpoint>(sql, values);
  return found ?? null;
}

function none(message: string): never {
  throw new DomainError('INVALID_STATE', message);
}
