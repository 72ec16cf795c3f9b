import { permissionFor } from '../../auth/permissions.ts';
import { ownerOf } from '../../auth/viewer.ts';
import type { Transaction } from '../../store/store.ts';
import { audit } from '../audit/record-audit.ts';
import type { Context } from '../context.ts';
import { type CreateOptions, findReplay } from '../idempotency.ts';
import { changeSession } from './change-session.ts';
import { getSessionFor, type SessionTarget } from './find-session.ts';
import { waiting } from './inbox.ts';
import type { NewEntry } from './log.ts';
import { openToolCalls } from './open-tool-calls.ts';
import { isWaitingForQuota } from './quota-wait.ts';
import type { SessionRecord } from './session.ts';
import { type StopCommand, stoppedBeforeTurn, stoppedTurn, waitingAfterStop } from './stopped-turns.ts';
import { lockRunAndSession } from './suspend-session.ts';

/** The session to interrupt, and an optional idempotency key. */
export interface InterruptSessionInput extends SessionTarget, CreateOptions {}

/** Time after which a repeated stop no longer waits for the worker. */
const workerMs = 5_000;

/** The work of a session that is awake. */
export interface RunState {
  readonly turn: number;
  readonly isTurnOpen: boolean;
  readonly isQueued: boolean;
  readonly command: string | null;
  readonly commandData: StopCommand | null;
  readonly nextSeq: number;
  readonly isLeased: boolean;
  /** True if messages wait for the agent. */
  readonly hasMessages: boolean;
}

const runState = `
  select r.turn_count as turn, r.is_turn_open as "isTurnOpen", r.queued_at is not null as "isQueued", r.command,
         r.command_data as "commandData", h.next_seq as "nextSeq",
         exists (select 1 from lease l where l.session_id = r.session_id and l.generation = r.generation
                    and l.expires_at > now()) as "isLeased",
         exists (select 1 from log_entry e where e.session_id = r.session_id and ${waiting}) as "hasMessages"
    from run r join session_head h on h.session_id = r.session_id where r.session_id = $1`;

const command = `update run set command = 'interrupt', command_data = $2::jsonb where session_id = $1`;
const leaveQueue = 'update run set queued_at = null where session_id = $1';

// The new generation: nothing more from the agent is accepted. The lease stays until the worker has stopped the agent.
const endRun = `
  with r as (
    update run set generation = generation + 1, queued_at = null, is_turn_open = false, command = null, command_data = null
     where session_id = $1 returning generation)
  update session_head h set generation = r.generation from r where h.session_id = $1`;

/**
 * Stops the work of a session for its user, who then continues it with the next message. If an agent works, its worker
 * cancels the turn; if no worker does, or it does not react to a repeated stop, the turn ends at once. A session that
 * waits for a worker leaves the queue. Messages that the agent has not received stay in the inbox, and start no turn by
 * themselves. A session without work does not change. Returns the session before the worker has acted. Throws NOT_FOUND,
 * FORBIDDEN, IDEMPOTENCY_CONFLICT. Needs the permissions of `sendMessage`.
 */
export async function interruptSession(context: Context, input: InterruptSessionInput): Promise<SessionRecord> {
  const seen = await getSessionFor(context, permissionFor.sendMessage, input);
  const { id, organizationId } = seen;
  const claim = {
    scope: organizationId,
    operation: 'interruptSession',
    input: { sessionId: id },
    resultId: id,
  };
  return context.store.transact(async (tx) => {
    const replay = await findReplay(context, tx, input, claim);
    const session = await lockRunAndSession(tx, id);
    return replay === null ? interruptLocked(context, tx, session) : session;
  });
}

/** Reads the work of a locked session; null: it is not awake. */
export async function readRun(tx: Transaction, { id, status }: SessionRecord): Promise<RunState | null> {
  const isAwake = status === 'new' || status === 'claimed' || status === 'running' || status === 'resuming';
  const [run] = isAwake ? await tx.query<RunState>(runState, [id]) : [];
  return run ?? null;
}

async function interruptLocked(context: Context, tx: Transaction, session: SessionRecord): Promise<SessionRecord> {
  const { id, organizationId } = session;
  const run = await readRun(tx, session);
  if (!run || !(run.isTurnOpen || run.isQueued)) return session;
  const now = context.now();
  // A worker that has recorded a wait for the provider takes no command, until it has released the session.
  const isWorking = run.isTurnOpen && run.isLeased && session.status === 'running' && !isWaitingForQuota(session);
  if (isWorking && run.commandData !== null && now.getTime() - Date.parse(run.commandData.at) < workerMs) {
    return session;
  }
  await audit(context, tx, 'interrupt_session', { organizationId, sessionId: id, targetId: id });
  tx.afterCommit(() => context.notifier.notify(`command:${id}`));
  if (!isWorking || run.commandData !== null) return endWork(context, tx, session, run);
  const data: StopCommand = { at: now.toISOString(), nextSeq: run.nextSeq, ...ownerOf(context.viewer) };
  await tx.query(command, [id, JSON.stringify(data)]);
  return session;
}

/** Ends the work of a locked session at once: it leaves the queue, and an open turn ends as stopped by the viewer. */
export async function endWork(
  context: Context,
  tx: Transaction,
  session: SessionRecord,
  run: RunState,
): Promise<SessionRecord> {
  const { id, status } = session;
  // An idle agent is kept for the next message.
  const isAgentIdle = !run.isTurnOpen && run.isLeased && status !== 'claimed';
  await tx.query(isAgentIdle ? leaveQueue : endRun, [id]);
  tx.afterCommit(() => context.notifier.notify('runs'));
  const entries = run.isTurnOpen
    ? [...(await openToolCalls(tx, id, { isCancelled: true })), stoppedTurn(run.turn, ownerOf(context.viewer))]
    : heldMessages(context, run);
  // The table has no transition from new to running.
  const taken = status === 'new' ? await changeSession(context, tx, session, { status: 'claimed' }) : session;
  return changeSession(context, tx, taken, waitingAfterStop, entries);
}

const heldMessages = ({ viewer }: Context, { hasMessages }: RunState): NewEntry[] =>
  hasMessages ? [stoppedBeforeTurn(ownerOf(viewer))] : [];
