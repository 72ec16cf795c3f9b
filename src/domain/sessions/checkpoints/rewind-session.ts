import { permissionFor } from '../../../auth/permissions.ts';
import { ownerOf } from '../../../auth/viewer.ts';
import type { Transaction } from '../../../store/store.ts';
import { audit } from '../../audit/record-audit.ts';
import type { Context } from '../../context.ts';
import { type CreateOptions, findReplay } from '../../idempotency.ts';
import { newId, prefixedId } from '../../ids.ts';
import { changeSession, type StatusChange } from '../change-session.ts';
import { getSessionFor, type SessionTarget } from '../find-session.ts';
import { waiting } from '../inbox.ts';
import type { NewEntry } from '../log.ts';
import { openToolCalls } from '../open-tool-calls.ts';
import type { SessionRecord } from '../session.ts';
import { stoppedTurn, waitingAfterStop } from '../stopped-turns.ts';
import { lockRunAndSession } from '../suspend-session.ts';
import { requireTaking } from '../write-message.ts';
import type { SessionCheckpoint } from './checkpoints.ts';
import { chooseCheckpoint, type SessionPoint } from './choose-checkpoint.ts';
import { beginWithCopy } from './copy-checkpoint.ts';
import { pointText, type RewindData } from './rewind-data.ts';

/** The session to rewind, the point that it returns to, and an optional idempotency key. */
export interface RewindSessionInput extends SessionTarget, CreateOptions {
  readonly point: SessionPoint;
}

/** A session after a rewind. */
export interface RewoundSession {
  readonly session: SessionRecord;
  /** The unprefixed id of the newest checkpoint, which is a copy of the one that the session returned to. */
  readonly checkpointId: string;
}

/** Maximum number of waiting messages that are recorded as still holding. */
const maxKept = 1_000;

const waitingSeqs = `
  select e.seq from log_entry e join run r on r.session_id = e.session_id
   where e.session_id = $1 and ${waiting} order by e.seq limit ${maxKept}`;

// The new generation: nothing more from the agent is accepted, and its worker stops it and returns the lease.
const endRun = `
  with r as (
    update run set generation = run.generation + 1, queued_at = null, is_turn_open = false, command = null, command_data = null,
           crash_count = 0, quota_since = null, quota_waits = 0
      from (select is_turn_open from run where session_id = $1) before
     where session_id = $1 returning run.generation, run.turn_count, before.is_turn_open)
  update session_head h set generation = r.generation from r where h.session_id = $1
  returning r.generation, r.turn_count as turn, r.is_turn_open as "wasTurnOpen"`;

/**
 * Reverts the files and the agent of a session to a checkpoint, but not its log. Work in progress is stopped as {@link
 * suspendSession} and `interruptSession` stop it. Messages that the agent has not received stay in the inbox, and start no turn by
 * themselves. The next start of the agent restores the checkpoint. Throws NOT_FOUND, FORBIDDEN, INVALID_INPUT, IDEMPOTENCY_CONFLICT, and
 * INVALID_STATE for a session that takes no messages and for a turn without a checkpoint.
 */
export async function rewindSession(context: Context, input: RewindSessionInput): Promise<RewoundSession> {
  const seen = await getSessionFor(context, permissionFor.changeSession, input);
  const { id: sessionId, organizationId } = seen;
  const checkpointId = newId();
  const { point } = input;
  const claim = { operation: 'rewindSession', input: { sessionId, point }, resultId: checkpointId };
  return context.store.transact(async (tx) => {
    const replay = await findReplay(context, tx, input, { scope: organizationId, ...claim });
    const session = await lockRunAndSession(tx, sessionId);
    if (replay !== null) return { session, checkpointId: replay };
    requireTaking(session, 'cannot be rewound');
    const checkpoint = await chooseCheckpoint(tx, session, point);
    return { session: await rewindLocked(context, tx, session, { checkpoint, checkpointId }), checkpointId };
  });
}

async function rewindLocked(
  context: Context,
  tx: Transaction,
  session: SessionRecord,
  { checkpoint, checkpointId }: { readonly checkpoint: SessionCheckpoint; readonly checkpointId: string },
): Promise<SessionRecord> {
  const { id, organizationId } = session;
  const { turn, seq } = checkpoint;
  const kept = await tx.query<{ seq: number }>(waitingSeqs, [id]);
  const [ended] = await tx.query<{ generation: number; turn: number; wasTurnOpen: boolean }>(endRun, [id]);
  if (!ended) throw new Error(`Session ${id} has no run.`);
  const { generation } = ended;
  const stopped = ended.wasTurnOpen
    ? [...(await openToolCalls(tx, id, { isCancelled: true })), stoppedTurn(ended.turn, ownerOf(context.viewer))]
    : [];
  const now = context.now();
  const copy = { id: checkpointId, from: checkpoint, sessionId: id, generation, turn, seq, now } as const;
  await beginWithCopy(tx, { ...copy, kind: 'REWIND', withAgentSession: true });
  await audit(context, tx, 'rewind_session', {
    organizationId,
    sessionId: id,
    targetId: id,
    data: { checkpointId: prefixedId('checkpoint', checkpoint.id), turn },
  });
  tx.afterCommit(() => {
    context.notifier.notify(`command:${id}`);
    context.notifier.notify('runs');
  });
  const keptSeqs = kept.map((row) => row.seq).filter((each) => each > seq);
  const entry = { ...rewindEntry(checkpoint, keptSeqs), ...ownerOf(context.viewer) };
  // The table has no transition from new to running.
  const taken = session.status === 'new' ? await changeSession(context, tx, session, { status: 'claimed' }) : session;
  return changeSession(context, tx, taken, changeOf(taken), [...stopped, entry]);
}

// A session that is awake waits for its user. Any other stays as it is until the next message.
function changeOf({ status }: SessionRecord): StatusChange {
  const isAwake = status === 'claimed' || status === 'running' || status === 'resuming';
  return isAwake ? waitingAfterStop : { pendingQuestionId: null };
}

function rewindEntry(checkpoint: SessionCheckpoint, keptSeqs: readonly number[]): NewEntry {
  const { id, turn, seq, kind, createdAt } = checkpoint;
  const isTurnEnd = kind === 'TURN_END';
  const data: RewindData = {
    checkpointId: id,
    turn,
    toSeq: seq,
    savedAt: createdAt.toISOString(),
    isTurnEnd,
    keptSeqs,
  };
  const body = `The session’s files and agent were reverted to ${pointText(data)}. The log continues.`;
  return { kind: 'REWIND', body, data: { ...data } };
}
