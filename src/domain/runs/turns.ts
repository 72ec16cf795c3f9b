import type { Transaction } from '../../store/store.ts';
import { withAgentLinks } from '../attachments/attach.ts';
import type { Context } from '../context.ts';
import { changeSession, lockSession, type StatusChange } from '../sessions/change-session.ts';
import { FencedError, type NewEntry } from '../sessions/log.ts';
import { openToolCalls } from '../sessions/open-tool-calls.ts';
import type { ClaimedRun } from './claims.ts';
import type { Failure } from './failures.ts';

/** A user's message that the agent has not been given yet. */
export interface InboxMessage {
  readonly seq: number;
  readonly body: string;
}

/** The most messages that one turn takes. */
const inboxLimit = 100;

const isUsers = "e.message_type is not null and e.message_type <> 'agent_message'";

const undelivered = `
  select e.seq, e.body from log_entry e join run r on r.session_id = e.session_id
   where e.session_id = $1 and ${isUsers} and e.seq > r.delivered_seq and not e.seq = any(r.answered_seqs)
   order by e.seq limit $2`;

/** The user's messages that wait, in order, as the agent is given them. */
export async function readInbox(context: Context, sessionId: string): Promise<InboxMessage[]> {
  const messages = await context.store.query<InboxMessage>(undelivered, [sessionId, inboxLimit]);
  return withAgentLinks(context, sessionId, messages);
}

/** Those of the waiting messages that came after a question: only they can be meant for it. */
export async function readAnswers(context: Context, sessionId: string, questionSeq: number): Promise<InboxMessage[]> {
  return (await readInbox(context, sessionId)).filter((message) => message.seq > questionSeq);
}

/** Reads the messages of an interrupted turn: those that it was sent with, and the answers to its questions. */
export async function readTurnMessages(context: Context, sessionId: string): Promise<InboxMessage[]> {
  const messages = await context.store.query<InboxMessage>(
    `select e.seq, e.body from log_entry e join run r on r.session_id = e.session_id
      where e.session_id = $1 and ${isUsers} and e.seq = any(r.turn_seqs)
      order by e.seq limit $2`,
    [sessionId, inboxLimit],
  );
  return withAgentLinks(context, sessionId, messages);
}

interface RunRow {
  generation: number;
  turnCount: number;
  crashCount: number;
  lastCrashAt: Date | null;
}

async function lockRun(tx: Transaction, run: ClaimedRun): Promise<RunRow> {
  const [row] = await tx.query<RunRow>(
    'select generation, turn_count as "turnCount", crash_count as "crashCount", last_crash_at as "lastCrashAt" from run where session_id = $1 for update',
    [run.sessionId],
  );
  if (row?.generation !== run.generation) throw new FencedError(run.sessionId);
  return row;
}

/**
 * Tells whether the turn before the next one was stopped because the user suspended the session. An interrupted turn
 * (`isInterrupted`) is the next one itself, and was started before.
 */
export async function isAfterSuspension(context: Context, sessionId: string, isInterrupted: boolean): Promise<boolean> {
  const [last] = await context.store.query<{ data: { stopReason?: string; isAfterSuspension?: boolean } }>(
    `select data from log_entry where session_id = $1 and kind = 'TURN' order by seq desc limit 1`,
    [sessionId],
  );
  return isInterrupted ? last?.data.isAfterSuspension === true : last?.data.stopReason === 'suspended';
}

/** A turn that is about to be sent. */
export interface TurnStart {
  /** The new messages of the user. Empty for an interrupted turn, which keeps the messages that it had. */
  readonly messages: readonly InboxMessage[];
  /** See {@link isAfterSuspension}. */
  readonly isAfterSuspension: boolean;
}

/** Records a turn before it is sent: after a crash it is known to have been open. */
export async function startTurn(
  context: Context,
  run: ClaimedRun,
  { messages, isAfterSuspension: isAfter }: TurnStart,
): Promise<void> {
  await context.store.transact(async (tx) => {
    const row = await lockRun(tx, run);
    const session = await lockSession(tx, run.sessionId, run.generation);
    const turn = row.turnCount + 1;
    await tx.query(
      `update run set turn_after_seq = case when $2::int = 0 then turn_after_seq else delivered_seq end,
              delivered_seq = greatest(delivered_seq, $2::int),
              answered_seqs = array(select seq from unnest(answered_seqs) as seq where seq > greatest(delivered_seq, $2::int)),
              turn_seqs = case when $2::int = 0 then turn_seqs else $4::int[] end,
              turn_count = $3, is_turn_open = true where session_id = $1`,
      [run.sessionId, messages.at(-1)?.seq ?? 0, turn, messages.map((message) => message.seq)],
    );
    // Who ran it, for whoever looks for a turn that two have run.
    const { generation, workerId } = run;
    const data = { turn, phase: 'started', generation, workerId, ...(isAfter && { isAfterSuspension: true }) };
    const started: NewEntry = { kind: 'TURN', data };
    const change = { ...working, isFresh: session.status === 'resuming' || session.isFresh };
    await changeSession(context, tx, session, change, [started]);
  });
}

const working = {
  status: 'running',
  statusDetail: 'working',
  request: null,
  requestFrom: null,
} as const satisfies StatusChange;

/** Gives the user's words to a question that is open inside a turn. */
export async function noteAnswer(context: Context, run: ClaimedRun, messages: readonly InboxMessage[]): Promise<void> {
  await context.store.transact(async (tx) => {
    await lockRun(tx, run);
    const session = await lockSession(tx, run.sessionId, run.generation);
    await tx.query(
      `update run set answered_seqs = answered_seqs || $2::int[], turn_seqs = turn_seqs || $2::int[] where session_id = $1`,
      [run.sessionId, messages.map((message) => message.seq)],
    );
    await changeSession(context, tx, session, working);
  });
}

/** Takes the user's words back from a question that was not open any more: they are the next turn's. FencedError. */
export async function takeBackAnswer(
  context: Context,
  run: ClaimedRun,
  messages: readonly InboxMessage[],
): Promise<void> {
  const rows = await context.store.execute(
    `update run set answered_seqs = array(select seq from unnest(answered_seqs) as seq where seq <> all($3::int[])),
            turn_seqs = array(select seq from unnest(turn_seqs) as seq where seq <> all($3::int[]))
      where session_id = $1 and generation = $2 returning session_id`,
    [run.sessionId, run.generation, messages.map((message) => message.seq)],
  );
  if (rows.length === 0) throw new FencedError(run.sessionId);
}

// The same question, with the same choice, that was open when the turn was interrupted: it still stands, and what came after
// it may be meant for it. One that was answered does not: an answer belongs to the last question before it, and who asks for
// a permission once more must not be given the earlier one.
const stillOpen = `
  select q.seq from log_entry q join log_entry said on said.session_id = q.session_id and said.seq = q.seq + 1 and said.body = $3
   where q.session_id = $1 and q.kind = 'QUESTION' and q.body = $2
     and q.seq > coalesce((select max(t.seq) from log_entry t
           where t.session_id = $1 and t.kind = 'TURN' and t.data->>'phase' = 'stopped'), 0)
     and q.seq < (select max(t.seq) from log_entry t
           where t.session_id = $1 and t.kind = 'TURN' and t.data->>'phase' = 'started')
     and not exists (select 1 from run r cross join unnest(r.answered_seqs) as answered(seq)
           where r.session_id = $1 and answered.seq > q.seq and not exists (select 1 from log_entry later
                 where later.session_id = $1 and later.kind = 'QUESTION' and later.seq > q.seq and later.seq < answered.seq))
   order by q.seq desc limit 1`;

/** A question as it is written: its entry, and the message that people read. Both have a body. */
export type QuestionEntries = readonly [question: NewEntry, message: NewEntry];

/**
 * Writes a question that the agent waits for, inside its turn; one that was open when the turn was interrupted is not written
 * again. Gives the number after which a message is an answer: the question's own, or that of the same one before.
 */
export async function noteQuestion(
  context: Context,
  run: ClaimedRun,
  entries: QuestionEntries,
  statusDetail: 'waiting_for_user' | 'waiting_for_approval',
): Promise<number> {
  return context.store.transact(async (tx) => {
    const session = await lockSession(tx, run.sessionId, run.generation);
    const [head] = await tx.query<{ seq: number }>('select next_seq as seq from session_head where session_id = $1', [
      run.sessionId,
    ]);
    const bodies = entries.map(({ body }) => body ?? '');
    const [before] = await tx.query<{ seq: number }>(stillOpen, [run.sessionId, ...bodies]);
    await changeSession(context, tx, session, { status: 'running', statusDetail }, before ? [] : entries);
    return before?.seq ?? head?.seq ?? 0;
  });
}

/**
 * Writes the end of a turn. With messages waiting the session stays at work, otherwise it becomes what `change` says and
 * leaves the queue. True: there is more to do.
 */
export async function endTurn(
  context: Context,
  run: ClaimedRun,
  stopReason: string,
  entries: readonly NewEntry[],
  change: StatusChange,
): Promise<boolean> {
  return context.store.transact(async (tx) => {
    const row = await lockRun(tx, run);
    const session = await lockSession(tx, run.sessionId, run.generation);
    const hasMore = (await tx.query(undelivered, [run.sessionId, 1])).length > 0;
    await tx.query(
      `update run set is_turn_open = false, crash_count = 0, queued_at = case when $2::boolean then queued_at else null end
        where session_id = $1`,
      [run.sessionId, hasMore],
    );
    // Another session of the same user or organization may have waited for this one.
    if (!hasMore) tx.afterCommit(() => context.bell.ring('runs'));
    // What was cancelled says no more of its tools.
    const open = stopReason === 'end_turn' ? [] : await openToolCalls(tx, run.sessionId);
    const end: NewEntry = { kind: 'TURN', data: { turn: row.turnCount, phase: 'stopped', stopReason } };
    await changeSession(context, tx, session, hasMore ? working : { request: null, requestFrom: null, ...change }, [
      ...open,
      ...entries,
      end,
    ]);
    return hasMore;
  });
}

/** What became of a crash: when the session is tried again, or null when its budget is spent. */
export interface CrashVerdict {
  readonly retryAt: Date | null;
}

/** Crashes further apart than this do not add up. */
const crashWindowMs = 10 * 60_000;

/**
 * Writes an agent's crash: tool calls that were open are closed as failed, and the session goes back to the queue after
 * the delay that is due, or ends in `error` when `retryDelaysMs` has no more (agents.md 5.6). `stderr` is what the agent
 * wrote last, masked and short, for the team to read.
 */
export async function noteCrash(
  context: Context,
  run: ClaimedRun,
  failure: Failure & { readonly stderr: string | null },
  retryDelaysMs: readonly number[],
): Promise<CrashVerdict> {
  const { code, message, stderr, isWorthRetrying } = failure;
  const data = { code, ...(stderr ? { stderr } : {}) };
  return context.store.transact(async (tx) => {
    const row = await lockRun(tx, run);
    const session = await lockSession(tx, run.sessionId, run.generation);
    const now = context.now();
    const isRecent = row.lastCrashAt !== null && now.getTime() - row.lastCrashAt.getTime() < crashWindowMs;
    const crashes = isRecent ? row.crashCount : 0;
    const delayMs = retryDelaysMs[crashes];
    const retryAt = delayMs === undefined ? null : new Date(now.getTime() + delayMs);
    await tx.query(
      `update run set crash_count = $2, last_crash_at = $3::timestamptz, queued_at = $4::timestamptz,
              is_turn_open = is_turn_open and $4::timestamptz is not null where session_id = $1`,
      [run.sessionId, crashes + 1, now, retryAt],
    );
    const interrupted = await openToolCalls(tx, run.sessionId);
    if (retryAt) {
      const isAsking = session.status === 'running' && session.statusDetail !== 'working';
      const when = isAsking ? ' once its question is answered' : delayMs ? ` in ${delayMs / 1_000} s` : '';
      const body = `${message} Trying again${when}.`;
      await changeSession(context, tx, session, {}, [...interrupted, { kind: 'NOTICE', body, data }]);
    } else {
      const error: NewEntry = { kind: 'ERROR', body: message, data };
      // What a new try would not help with says by itself what would.
      const advice = isWorthRetrying ? ' Send a message to try again.' : '';
      const said: NewEntry = {
        kind: 'MESSAGE',
        messageType: 'agent_message',
        body: `The session stopped with an error: ${message}${advice}`,
      };
      const change = { status: 'error', statusDetail: null, request: null, requestFrom: null, isFresh: false } as const;
      await changeSession(context, tx, session, change, [...interrupted, error, said]);
    }
    return { retryAt };
  });
}

// That the turn is tried again was said by noteCrash, with the reason; a refusal has interrupted nothing.
const retryTold = `
  select 1 from log_entry n where n.session_id = $1 and n.kind = 'NOTICE' and n.data->>'code' is not null
     and n.seq > coalesce((select max(t.seq) from log_entry t where t.session_id = $1 and t.kind = 'TURN'), 0) limit 1`;

/** Closes the tool calls of an interrupted turn, for a worker that takes it over. */
export async function closeInterrupted(context: Context, run: ClaimedRun): Promise<void> {
  await context.store.transact(async (tx) => {
    const session = await lockSession(tx, run.sessionId, run.generation);
    const isTold = (await tx.query(retryTold, [run.sessionId])).length > 0;
    const notice: NewEntry = { kind: 'NOTICE', body: 'The agent process was interrupted and is being started again.' };
    const entries = [...(await openToolCalls(tx, run.sessionId)), ...(isTold ? [] : [notice])];
    await changeSession(context, tx, session, {}, entries);
  });
}

/** Remembers the agent's own session id, for load or resume. Null: there is none to be taken up. */
export async function noteAgentSession(
  context: Context,
  run: ClaimedRun,
  agentSessionId: string | null,
): Promise<void> {
  const rows = await context.store.execute(
    'update run set agent_session_id = $3 where session_id = $1 and generation = $2 returning session_id',
    [run.sessionId, run.generation, agentSessionId],
  );
  if (rows.length === 0) throw new FencedError(run.sessionId);
}

/** The agent's own title, where the session's is only the prompt's first line. */
export async function noteTitle(context: Context, run: ClaimedRun, title: string): Promise<void> {
  await context.store.execute(
    `update session set title = $3, is_title_derived = false from session_head h
      where session.id = $1 and h.session_id = $1 and h.generation = $2 and session.is_title_derived returning session.id`,
    [run.sessionId, run.generation, title],
  );
}

/** Whether the run is still this worker's. */
export async function isStillHeld(context: Context, run: ClaimedRun): Promise<boolean> {
  const rows = await context.store.query<{ generation: number }>('select generation from run where session_id = $1', [
    run.sessionId,
  ]);
  return rows[0]?.generation === run.generation;
}
