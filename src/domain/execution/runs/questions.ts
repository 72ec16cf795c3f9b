import type { Context } from '../../context.ts';
import { withAgentLinks } from '../../sessions/attachments/attach.ts';
import { changeSession, lockSession } from '../../sessions/change-session.ts';
import { isUsers, waiting } from '../../sessions/inbox.ts';
import { FencedError, type NewEntry } from '../../sessions/log.ts';
import type { ClaimedRun } from './claims.ts';
import { endTurn, type InboxMessage, lockRun, working } from './turns.ts';

/** A user's answer to an open question, which has not been delivered to the agent yet. */
export interface Answer extends Pick<InboxMessage, 'seq' | 'body'> {
  /** Null: the text is the answer. */
  readonly optionId: string | null;
}

const answerTo = `
  select e.seq, e.body, e.data->>'optionId' as "optionId"
    from log_entry q join log_entry e on e.session_id = q.session_id and e.seq > q.seq join run r on r.session_id = e.session_id
   where q.session_id = $1 and q.id = $2 and ${waiting} and e.data->>'questionId' = q.id order by e.seq limit 1`;

/**
 * Reads the answer to a question, by the id of its entry. Null: there is none, or it has been delivered to the agent.
 */
export async function readAnswer(context: Context, sessionId: string, questionId: string): Promise<Answer | null> {
  const answers = await context.store.query<Answer>(answerTo, [sessionId, questionId]);
  const [answer] = await withAgentLinks(context, sessionId, answers);
  return answer ?? null;
}

/** Records that an answer to a question that is open inside a turn was delivered to the agent. Throws FencedError. */
export async function recordAnswer(context: Context, run: ClaimedRun, { seq }: Answer): Promise<void> {
  await context.store.transact(async (tx) => {
    await lockRun(tx, run);
    const session = await lockSession(tx, run.sessionId, run.generation);
    await tx.query(
      `update run set answered_seqs = array_append(answered_seqs, $2::int), turn_seqs = array_append(turn_seqs, $2::int)
        where session_id = $1`,
      [run.sessionId, seq],
    );
    await changeSession(context, tx, session, working);
  });
}

/**
 * Detaches an answer from a question that was no longer open: its text belongs to the next turn. Throws FencedError.
 */
export async function takeBackAnswer(context: Context, run: ClaimedRun, { seq }: Answer): Promise<void> {
  const rows = await context.store.execute(
    `update run set answered_seqs = array_remove(answered_seqs, $3::int), turn_seqs = array_remove(turn_seqs, $3::int)
      where session_id = $1 and generation = $2 returning session_id`,
    [run.sessionId, run.generation, seq],
  );
  if (rows.length === 0) throw new FencedError(run.sessionId);
}

// An equal question, with equal options, that was open when the turn was interrupted stays open, and so does an
// undelivered answer to it. An agent that was started again may give its tool calls other ids. A question whose answer was delivered does not count: a repeated permission request must
// not get the earlier answer.
const stillOpen = `
  select q.id, exists (select 1 from log_entry e where e.session_id = $1 and e.seq > q.seq and ${isUsers}
           and q.id in (e.data->>'questionId', e.data->>'cancelledQuestionId')) as "isClosed"
    from log_entry q
   where q.session_id = $1 and q.kind = 'QUESTION' and q.body = $2 and q.data - 'toolCallId' = $3::jsonb - 'toolCallId'
     and q.seq > coalesce((select max(t.seq) from log_entry t
           where t.session_id = $1 and t.kind = 'TURN' and t.data->>'phase' = 'stopped'), 0)
     and q.seq < (select max(t.seq) from log_entry t
           where t.session_id = $1 and t.kind = 'TURN' and t.data->>'phase' = 'started')
     and not exists (select 1 from run r join log_entry e on e.session_id = r.session_id
           where r.session_id = $1 and e.seq = any(r.answered_seqs) and e.data->>'questionId' = q.id)
   order by q.seq desc limit 1`;

/** The two entries of a question: the question itself, with its id, and the message for people. Both have a body. */
export type QuestionEntries = readonly [question: NewEntry & { readonly id: string }, message: NewEntry];

/**
 * Writes a question that the agent waits for, inside its turn; one that was open when the turn was interrupted is not
 * written again. From now on the session's answer belongs to this question. Returns the id of the question's entry.
 * Throws FencedError.
 */
export async function recordQuestion(
  context: Context,
  run: ClaimedRun,
  entries: QuestionEntries,
  statusDetail: 'waiting_for_user' | 'waiting_for_approval',
): Promise<string> {
  const [{ id, body, data }] = entries;
  return context.store.transact(async (tx) => {
    const session = await lockSession(tx, run.sessionId, run.generation);
    const values = [run.sessionId, body ?? '', JSON.stringify(data ?? null)];
    const [before] = await tx.query<{ id: string; isClosed: boolean }>(stillOpen, values);
    const pendingQuestionId = before?.isClosed ? null : (before?.id ?? id);
    const change = { status: 'running', statusDetail, pendingQuestionId } as const;
    await changeSession(context, tx, session, change, before ? [] : entries);
    return before?.id ?? id;
  });
}

/** The effect of waiting messages on the current turn. */
export interface WaitingMessages {
  /** True if one of them was sent to interrupt the turn. */
  readonly areInterrupting: boolean;
  /** True if one of them has cancelled a question of the turn, which therefore ends. */
  readonly areCancelling: boolean;
  /** True if one of them is not an answer to a question, and was not sent to wait for the end of the turn. */
  readonly areSteering: boolean;
}

const waitingMessages = `
  select coalesce(bool_or(e.data->>'mode' = 'interrupt'), false) as "areInterrupting",
         coalesce(bool_or(e.data->>'cancelledQuestionId' is not null), false) as "areCancelling",
         coalesce(bool_or(e.data->>'questionId' is null and e.data->>'mode' is distinct from 'queue'), false) as "areSteering"
    from log_entry e join run r on r.session_id = e.session_id where e.session_id = $1 and ${waiting}`;

/** Reads the effect of waiting messages on the current turn. */
export async function readWaitingMessages(context: Context, sessionId: string): Promise<WaitingMessages> {
  const [messages] = await context.store.query<WaitingMessages>(waitingMessages, [sessionId]);
  return messages ?? { areInterrupting: false, areCancelling: false, areSteering: false };
}

/**
 * Ends an interrupted turn, without a resumption, if a message was sent to interrupt it or has cancelled its question.
 * True: it has ended, and the message belongs to the next turn. Throws FencedError.
 */
export async function endCancelledTurn(context: Context, run: ClaimedRun): Promise<boolean> {
  const { areInterrupting, areCancelling } = await readWaitingMessages(context, run.sessionId);
  const isOver = areInterrupting || areCancelling;
  if (isOver) await endTurn(context, run, 'cancelled', [], {});
  return isOver;
}
