import type { Context } from '../../context.ts';
import type { BeginningData } from '../../sessions/checkpoints/beginning.ts';

/** Approximate length of a digest, in characters. */
const digestLength = 12_000;
/** Maximum length of one message in it: the middle of a longer one is cut. */
const messageLength = 2_000;
/** The same in the digest of a single turn. */
const turnMessageLength = 8_000;
/** Number of entries of the log that are read, newest first. */
const maxEntries = 400;

/** The part of a log for a digest: the entries from `fromSeq` until before `beforeSeq` (null: all), without `exceptSeqs`. */
interface LogPart {
  readonly fromSeq: number;
  readonly beforeSeq: number | null;
  readonly exceptSeqs: readonly number[];
  /** Rewinds from this entry on do not count; null: all count. */
  readonly rewindsBeforeSeq?: number | null;
}

interface DigestRow {
  readonly messageType: string | null;
  readonly body: string | null;
  readonly title: string | null;
  readonly status: string | null;
}

const lastRewind = (untilSeq: string) => `
  select w.seq, (w.data->>'toSeq')::int as "toSeq", w.data->'keptSeqs' as kept from log_entry w
   where w.session_id = $1 and w.kind = 'REWIND' and w.seq <= ${untilSeq} order by w.seq desc limit 1`;

// The parts of the log that hold, the last first. A rewind returns the log to its state after `toSeq`, so it also reverts the rewinds
// between. Messages that the agent had not received still hold.
const parts = `
  with recursive part("from", "to", "toSeq", kept) as (
    select coalesce(w.seq, 0), 2147483647, w."toSeq", w.kept
      from (select 1) one left join lateral (${lastRewind('coalesce($5::int - 1, 2147483647)')}) w on true
    union all
    select coalesce(w.seq, 0), p."toSeq", w."toSeq", w.kept
      from part p left join lateral (${lastRewind('p."toSeq"')}) w on true where p."toSeq" is not null)`;
const holds = `exists (select 1 from part p where e.seq between p."from" and p."to" or p.kept @> to_jsonb(e.seq))`;

// Of a tool call only its last entry, with the result. The newest entries first.
const entries = `${parts}
  select e.message_type as "messageType", coalesce(c.body, e.body) as body, e.data->>'title' as title, e.data->>'status' as status
    from log_entry e left join message_change c on c.session_id = e.session_id and c.seq = e.seq
   where e.session_id = $1 and c.is_withdrawn is not true and e.seq < coalesce($2::int, 2147483647) and e.seq >= $3::int
     and e.seq <> all($4::int[]) and (e.message_type is not null or e.kind = 'TOOL_CALL')
     and (e.kind <> 'TOOL_CALL' or not exists (select 1 from log_entry later
            where later.session_id = e.session_id and later.kind = 'TOOL_CALL' and later.seq > e.seq
              and later.data->>'toolCallId' = e.data->>'toolCallId' and later.seq < coalesce($2::int, 2147483647)))
     and ${holds}
   order by e.seq desc limit ${maxEntries}`;

// The entry is written with the session, before its first message.
const beginningOf = `
  select e.data->'beginning' as beginning from log_entry e
   where e.session_id = $1 and e.seq <= 3 and e.kind = 'NOTICE' and e.data ? 'beginning' limit 1`;

const firstMessageOfTurn = 'select turn_seqs[1] as "fromSeq" from run where session_id = $1';

/** Maximum number of sessions of which forks were made, one of the other, that a digest reads. */
const maxForks = 5;

/**
 * Summarizes a session for an agent that cannot resume its own memory of it: the last messages and the titles of tool
 * calls, about 12,000 characters, without what rewinds reverted. The digest of a fork begins with the session that it was
 * made of. `beforeSeq`: without the log's entries from that number on, which the turn contains anyway. Empty if the
 * session has no entries.
 */
export async function transcriptDigest(
  context: Pick<Context, 'store'>,
  sessionId: string,
  beforeSeq: number | null = null,
): Promise<string> {
  const parts: string[] = [];
  let part = { sessionId, beforeSeq, rewindsBeforeSeq: null as number | null };
  let left = digestLength;
  for (let forks = 0; forks <= maxForks; forks++) {
    const text = await digestOf(context, part.sessionId, { fromSeq: 0, exceptSeqs: [], ...part }, messageLength, left);
    if (text !== '') parts.unshift(text);
    left -= text.length;
    const [row] = await context.store.query<{ beginning: BeginningData }>(beginningOf, [part.sessionId]);
    if (row?.beginning.kind !== 'fork' || left < messageLength) break;
    const { seq, sessionId: sourceId } = row.beginning;
    part = { sessionId: sourceId, beforeSeq: seq + 1, rewindsBeforeSeq: seq + 1 };
  }
  return parts.join('\n');
}

/**
 * Summarizes the last turn of a session in the same way, for an agent that may have dropped it when it was stopped.
 * `exceptSeqs`: the messages of the next turn. Empty if there was no turn.
 */
export async function lastTurnDigest(
  context: Pick<Context, 'store'>,
  sessionId: string,
  exceptSeqs: readonly number[],
): Promise<string> {
  const [run] = await context.store.query<{ fromSeq: number | null }>(firstMessageOfTurn, [sessionId]);
  if (run?.fromSeq == null) return '';
  return digestOf(context, sessionId, { fromSeq: run.fromSeq, beforeSeq: null, exceptSeqs }, turnMessageLength);
}

async function digestOf(
  context: Pick<Context, 'store'>,
  sessionId: string,
  { fromSeq, beforeSeq, exceptSeqs, rewindsBeforeSeq = null }: LogPart,
  maxMessageLength: number,
  maxLength = digestLength,
): Promise<string> {
  const values = [sessionId, beforeSeq, fromSeq, exceptSeqs, rewindsBeforeSeq];
  const rows = await context.store.query<DigestRow>(entries, values);
  const lines: string[] = [];
  let left = maxLength;
  for (const row of rows) {
    const line = lineOf(row, maxMessageLength);
    left -= line.length + 1;
    if (left < 0) break;
    lines.push(line);
  }
  if (lines.length < rows.length || rows.length === maxEntries) lines.push('(What was before this is left out.)');
  return lines.reverse().join('\n');
}

function lineOf({ messageType, body, title, status }: DigestRow, maxMessageLength: number): string {
  if (messageType === null) return `[tool] ${shorten(title ?? '', 200)}: ${status ?? 'unknown'}`;
  return `${messageType === 'agent_message' ? 'You' : 'User'}: ${shorten(body ?? '', maxMessageLength)}`;
}

function shorten(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const half = Math.floor(maxLength / 2);
  return `${text.slice(0, half).toWellFormed()} … ${text.slice(-half).toWellFormed()}`;
}
