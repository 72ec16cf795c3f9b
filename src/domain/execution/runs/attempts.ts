import type { Transaction } from '../../../store/store.ts';

/** The members of the entry with which a turn starts that concern its attempts. */
export interface AttemptData {
  /** The number of the attempt at the same messages, from 1. */
  readonly attempt: number;
  /** The number of the entry with which the interrupted attempt started; undefined: none was interrupted. */
  readonly interruptedSeq?: number;
}

interface LastAttempt {
  readonly seq: number;
  readonly attempt: number;
  readonly isContinued: boolean;
}

// An agent that slept continues its work. The log says when, so nothing is repeated without an explanation.
const lastAttempt = `
  select e.seq, coalesce((e.data->>'attempt')::int, 1) as attempt,
      exists (select 1 from log_entry s where s.session_id = $1 and s.seq > e.seq and s.kind = 'STATUS'
        and s.data->>'status' = 'suspended') as "isContinued"
    from log_entry e where e.session_id = $1 and e.kind = 'TURN' and e.data->>'phase' = 'started'
   order by e.seq desc limit 1`;

/** Returns the attempt that starts now. `isRepeated`: the turn before it was interrupted, and its messages are sent again. */
export async function nextAttempt(tx: Transaction, sessionId: string, isRepeated: boolean): Promise<AttemptData> {
  const [last] = isRepeated ? await tx.query<LastAttempt>(lastAttempt, [sessionId]) : [];
  if (last === undefined) return { attempt: 1 };
  const attempt = last.attempt + 1;
  return last.isContinued ? { attempt } : { attempt, interruptedSeq: last.seq };
}
