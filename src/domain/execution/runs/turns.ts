import type { Transaction } from '../../../store/store.ts';
import { type Field, type Row, selectFields } from '../../../store/tables.ts';
import type { Context } from '../../context.ts';
import { withAgentLinks } from '../../sessions/attachments/attach.ts';
import { changeSession, lockSession, type StatusChange } from '../../sessions/change-session.ts';
import { isUsers, waiting } from '../../sessions/inbox.ts';
import { FencedError, type MessageEntry, type NewEntry } from '../../sessions/log.ts';
import { openToolCalls } from '../../sessions/open-tool-calls.ts';
import { type StopCommand, stoppedTurn, waitingAfterStop } from '../../sessions/stopped-turns.ts';
import { nextAttempt } from './attempts.ts';
import type { ClaimedRun } from './claims.ts';
import type { Failure } from './failures.ts';

/** A user's message that has not been delivered to the agent yet. */
export type InboxMessage = Pick<MessageEntry, 'seq' | 'body'> & {
  /** The version of the inbox from which it was read; see {@link startTurn}. */
  readonly inboxVersion: number;
};

/** Maximum number of messages in one turn. */
const inboxLimit = 100;

// With the permission request that a message answered.
const messages = `
  select e.seq, coalesce(c.body, e.body) as body, q.body as permission, r.inbox_version as "inboxVersion"
    from log_entry e join run r on r.session_id = e.session_id
    left join message_change c on c.session_id = e.session_id and c.seq = e.seq
    left join log_entry q on q.id = e.data->>'questionId' and q.data->>'reason' = 'permission'
   where e.session_id = $1 and`;

// Messages that wait since a user stopped the session are not in the queue.
const undelivered = `${messages} ${waiting} and r.queued_at is not null and e.seq >= $3 order by e.seq limit $2`;
const ofTurn = `${messages} ${isUsers} and e.seq = any(r.turn_seqs) order by e.seq limit $2`;

// "Allow once" alone would read as a permission for anything.
async function readMessages(
  context: Context,
  sql: string,
  ...values: readonly [sessionId: string, limit: number, fromSeq?: number]
): Promise<InboxMessage[]> {
  const [sessionId] = values;
  const rows = await context.store.query<InboxMessage & { permission: string | null }>(sql, values);
  // Before the agent's own text is added, which must not name files that the agent has no access to.
  const linked = await withAgentLinks(context, sessionId, rows);
  return linked.map(({ seq, body, permission, inboxVersion }) => ({
    seq,
    inboxVersion,
    body: permission === null ? body : `My answer to your question "${permission}" was: ${body}`,
  }));
}

/**
 * Reads the waiting messages of the user, in order, as the agent receives them. Empty for a session that is not in the
 * queue: its user has stopped it.
 */
export function readInbox(context: Context, sessionId: string): Promise<InboxMessage[]> {
  return readMessages(context, undelivered, sessionId, inboxLimit, 0);
}

/** Reads the messages of an interrupted turn: those that it was sent with, and the answers to its questions. */
export function readTurnMessages(context: Context, sessionId: string): Promise<InboxMessage[]> {
  return readMessages(context, ofTurn, sessionId, inboxLimit);
}

const lockedFields = [
  'generation',
  'queuedAt',
  'inboxVersion',
  'turnCount',
  'isTurnOpen',
  'commandData',
  'crashCount',
  'lastCrashAt',
  'quotaSince',
  'quotaWaits',
] as const satisfies readonly Field<'Run'>[];
type LockedRun = Pick<Row<'Run'>, (typeof lockedFields)[number]>;

/** Locks the row of a run that a worker leases: the first of a session's rows in the lock order. Throws FencedError. */
export async function lockRun(tx: Transaction, run: ClaimedRun): Promise<LockedRun> {
  const [row] = await tx.query<LockedRun>(
    `select ${selectFields('Run', 'r', lockedFields)} from run r where r.session_id = $1 for update`,
    [run.sessionId],
  );
  if (row?.generation !== run.generation) throw new FencedError(run.sessionId);
  return row;
}

// A retry sends the messages of a stopped turn again on purpose. A rewind has reverted the turn.
const lastTurnOrRetry = `
  select data from log_entry where session_id = $1 and (kind in ('TURN', 'REWIND') or (kind = 'NOTICE' and data ? 'retriedTurn'))
   order by seq desc limit 1`;

/**
 * The note about the turn before the next one: `repeat` if a user stopped it, `note` if the user suspended the session in
 * it; null: neither. A repeated note says what happened in the turn.
 */
export type StopNote = 'repeat' | 'note' | null;

/**
 * Reads the note about the last turn. An interrupted turn (`isInterrupted`) is the next one itself, and was started
 * before.
 */
export async function readStopNote(context: Context, sessionId: string, isInterrupted: boolean): Promise<StopNote> {
  const [last] = await context.store.query<{
    data: { stopReason?: string; isStopped?: boolean; isAfterStop?: boolean };
  }>(lastTurnOrRetry, [sessionId]);
  if (isInterrupted) return last?.data.isAfterStop === true ? 'note' : null;
  if (last?.data.isStopped === true) return 'repeat';
  return last?.data.stopReason === 'suspended' ? 'note' : null;
}

/** A turn that is about to be sent. */
export interface TurnStart {
  /** The new messages of the user. Empty for an interrupted turn, which keeps the messages that it had. */
  readonly messages: readonly InboxMessage[];
  /** True if it begins with a {@link StopNote}. */
  readonly isAfterStop: boolean;
  /** True if it begins with a note that the agent's files are from another time (see `readStateNote`). */
  readonly hasStateNote?: boolean;
}

/**
 * Records a turn before it is sent, so that it is known to be open after a crash. Returns its number. Null: a user has
 * stopped the session, or edited or withdrawn a message, since the messages were read. They have to be read again.
 */
export async function startTurn(
  context: Context,
  run: ClaimedRun,
  { messages, isAfterStop: isAfter, hasStateNote = false }: TurnStart,
): Promise<number | null> {
  return context.store.transact(async (tx) => {
    const row = await lockRun(tx, run);
    const isOutdated = messages.some(({ inboxVersion }) => inboxVersion !== row.inboxVersion);
    if (isOutdated || (messages.length > 0 && row.queuedAt === null)) return null;
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
    // Records the worker, so that a turn that two workers have run can be found.
    const { generation, workerId } = run;
    const data = {
      turn,
      phase: 'started',
      generation,
      workerId,
      ...(await nextAttempt(tx, run.sessionId, messages.length === 0)),
      ...(isAfter && { isAfterStop: true }),
      ...(hasStateNote && { hasStateNote }),
    };
    const started: NewEntry = { kind: 'TURN', data };
    // The question that an interrupted turn waited with is still pending.
    const pendingQuestionId = messages.length > 0 ? null : session.pendingQuestionId;
    const change = { ...working, pendingQuestionId, isFresh: session.status === 'resuming' || session.isFresh };
    await changeSession(context, tx, session, change, [started]);
    return turn;
  });
}

/** The status of a session whose agent works. */
export const working = {
  status: 'running',
  statusDetail: 'working',
  request: null,
  requestFrom: null,
} as const satisfies StatusChange;

/** The end of a turn. */
interface TurnClosing {
  readonly stopReason: string;
  readonly entries: readonly NewEntry[];
  /** The change of the session if no messages wait. */
  readonly change: StatusChange;
}

/**
 * Writes the end of a turn. If messages wait, the session stays active, otherwise it changes as `change` says and
 * leaves the queue. A turn that a user has stopped ends as stopped, and only messages after the stop keep the session
 * active.
 */
export async function endTurn(
  context: Context,
  run: ClaimedRun,
  stopReason: string,
  entries: readonly NewEntry[],
  change: StatusChange,
): Promise<TurnResult> {
  return context.store.transact(async (tx) =>
    closeTurn(context, tx, run, await lockRun(tx, run), { stopReason, entries, change }),
  );
}

/** The result of {@link endTurn}. */
export interface TurnResult {
  /** True if a user has stopped the turn. */
  readonly isStopped: boolean;
}

/** {@link endTurn} of a run that {@link lockRun} has locked. */
export async function closeTurn(
  context: Context,
  tx: Transaction,
  run: ClaimedRun,
  row: LockedRun,
  closing: TurnClosing,
): Promise<TurnResult> {
  const stop = row.commandData as StopCommand | null;
  const session = await lockSession(tx, run.sessionId, run.generation);
  const hasMore = (await tx.query(undelivered, [run.sessionId, 1, stop?.nextSeq ?? 0])).length > 0;
  await tx.query(
    `update run set is_turn_open = false, crash_count = 0, quota_since = null, quota_waits = 0, queued_at = case when $2::boolean then queued_at else null end,
            command = null, command_data = null
      where session_id = $1`,
    [run.sessionId, hasMore],
  );
  // Another session of the same user or organization may have waited for this one.
  if (!hasMore) tx.afterCommit(() => context.notifier.notify('runs'));
  const stopReason = stop === null ? closing.stopReason : 'cancelled';
  const isCancelled = stopReason === 'cancelled';
  // The agent no longer reports on the tools of a cancelled turn.
  const open = stopReason === 'end_turn' ? [] : await openToolCalls(tx, run.sessionId, { isCancelled });
  const end: NewEntry =
    stop === null
      ? { kind: 'TURN', data: { turn: row.turnCount, phase: 'stopped', stopReason } }
      : stoppedTurn(row.turnCount, stop);
  const isFresh = session.status === 'resuming' || session.isFresh;
  const afterwards = stop === null ? closing.change : waitingAfterStop;
  const next = hasMore ? { ...working, isFresh } : { request: null, requestFrom: null, ...afterwards };
  const own = stop === null ? closing.entries : [];
  await changeSession(context, tx, session, { pendingQuestionId: null, ...next }, [...open, ...own, end]);
  return { isStopped: stop !== null };
}

/** The result of a crash: the time of the retry, or null if no retries are left. */
export interface CrashOutcome {
  readonly retryAt: Date | null;
}

/** Crashes further apart than this do not add up. */
const crashWindowMs = 10 * 60_000;

/**
 * Records an agent's crash: open tool calls are closed as failed, and the session goes back to the queue after the next of
 * `retryDelaysMs`, or ends in `error` if there is none (docs/agents.md#what-happens-when). `stderr` is the end of the
 * agent's stderr, masked.
 */
export async function recordCrash(
  context: Context,
  run: ClaimedRun,
  failure: Failure & { readonly stderr: string | null },
  retryDelaysMs: readonly number[],
): Promise<CrashOutcome> {
  const { code, message, stderr, isRetryable } = failure;
  const data = { code, ...(stderr ? { stderr } : {}) };
  return context.store.transact(async (tx) => {
    const row = await lockRun(tx, run);
    if (row.commandData !== null) {
      // The agent ended because its user stopped it, or at the same time.
      await closeTurn(context, tx, run, row, { stopReason: 'cancelled', entries: [], change: {} });
      return { retryAt: null };
    }
    // Its user has stopped the session before its turn began.
    if (row.queuedAt === null && !row.isTurnOpen) return { retryAt: null };
    const session = await lockSession(tx, run.sessionId, run.generation);
    const now = context.now();
    const isRecent = row.lastCrashAt !== null && now.getTime() - row.lastCrashAt.getTime() < crashWindowMs;
    const crashes = isRecent ? row.crashCount : 0;
    const delayMs = retryDelaysMs[crashes];
    const retryAt = delayMs === undefined ? null : new Date(now.getTime() + delayMs);
    await tx.query(
      `update run set crash_count = $2, last_crash_at = $3::timestamptz, queued_at = $4::timestamptz,
              is_turn_open = is_turn_open and $4::timestamptz is not null,
              quota_since = case when $4::timestamptz is null then null else quota_since end,
              quota_waits = case when $4::timestamptz is null then 0 else quota_waits end where session_id = $1`,
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
      // The message of a failure that is not retryable contains its own advice.
      const advice = isRetryable ? ' Send a message to try again.' : '';
      const errorMessage: NewEntry = {
        kind: 'MESSAGE',
        messageType: 'agent_message',
        body: `The session stopped with an error: ${message}${advice}`,
      };
      const failed = { status: 'error', statusDetail: null, pendingQuestionId: null } as const;
      const change = { ...failed, request: null, requestFrom: null, isFresh: false } as const;
      await changeSession(context, tx, session, change, [...interrupted, error, errorMessage]);
    }
    return { retryAt };
  });
}

// recordCrash has written that the turn is retried, with the reason; a refusal has interrupted nothing.
const retryNotice = `
  select 1 from log_entry n where n.session_id = $1 and n.kind = 'NOTICE' and n.data->>'code' is not null
     and n.seq > coalesce((select max(t.seq) from log_entry t where t.session_id = $1 and t.kind = 'TURN'), 0) limit 1`;

// Drafts are not stored: a worker that is killed loses those of its agents.
const interruptedNotice =
  'The agent was interrupted. It’s starting this turn again and may repeat itself. Its unfinished message was lost.';

/** Closes the tool calls of an interrupted turn, for the next worker. */
export async function closeInterrupted(context: Context, run: ClaimedRun): Promise<void> {
  await context.store.transact(async (tx) => {
    const session = await lockSession(tx, run.sessionId, run.generation);
    const hasRetryNotice = (await tx.query(retryNotice, [run.sessionId])).length > 0;
    const notice: NewEntry = { kind: 'NOTICE', body: interruptedNotice };
    const entries = [...(await openToolCalls(tx, run.sessionId)), ...(hasRetryNotice ? [] : [notice])];
    await changeSession(context, tx, session, {}, entries);
  });
}

/** Stores the agent's own session id, for load or resume. Null: none to resume. */
export async function recordAgentSession(
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

/** Stores the agent's own title, if the session's title is only the prompt's first line. */
export async function recordTitle(context: Context, run: ClaimedRun, title: string): Promise<void> {
  await context.store.execute(
    `update session set title = $3, is_title_derived = false from session_head h
      where session.id = $1 and h.session_id = $1 and h.generation = $2 and session.is_title_derived returning session.id`,
    [run.sessionId, run.generation, title],
  );
}

/** The state of a run that its worker polls. */
export interface PolledRun {
  /** True if the run is still this worker's. */
  readonly isLeased: boolean;
  /** The number of the turn that a user wants to stop; null: none. */
  readonly turnToStop: number | null;
  /** When a viewer last asked for the changes of its turn; null: never. */
  readonly changesRequestedAt: Date | null;
}

/** Reads whether the run is still this worker's, and whether a user wants to stop its turn. */
export async function pollRun(context: Context, run: ClaimedRun): Promise<PolledRun> {
  const [row] = await context.store.query<
    Pick<Row<'Run'>, 'generation' | 'command' | 'turnCount' | 'changesRequestedAt'>
  >(
    `select ${selectFields('Run', 'r', ['generation', 'command', 'turnCount', 'changesRequestedAt'])} from run r where r.session_id = $1`,
    [run.sessionId],
  );
  const isLeased = row?.generation === run.generation;
  const turnToStop = row?.command === 'interrupt' ? row.turnCount : null;
  return { isLeased, turnToStop, changesRequestedAt: row?.changesRequestedAt ?? null };
}
