import type { QuotaRefusal } from '../../../agents/quota/reset-time.ts';
import type { Context } from '../../context.ts';
import { changeSession, lockSession } from '../../sessions/change-session.ts';
import type { NewEntry } from '../../sessions/log.ts';
import { openToolCalls } from '../../sessions/open-tool-calls.ts';
import { spellTime } from '../../times.ts';
import type { ClaimedRun } from './claims.ts';
import { closeTurn, lockRun } from './turns.ts';

const secondMs = 1_000;
/** The wait if the time of the reset is unknown; it doubles with each wait in a row. */
const unknownMs = 60 * secondMs;
const maxUnknownMs = 15 * 60 * secondMs;
/** The shortest wait: an agent is not started again in the same moment. */
const minMs = 5 * secondMs;
/** The time after which a session no longer waits. */
const maxSeriesMs = 24 * 3_600_000;

/** The time that an agent must have worked after a wait so that the next wait is a first one again. */
const minProgressMs = 60 * secondMs;

/** Waits in a row, between which the agent made no progress. */
export interface QuotaSeries {
  /** The start of the first wait; null: none. */
  readonly quotaSince: Date | null;
  /** Their number. */
  readonly quotaWaits: number;
}

/**
 * Returns the end of the next wait of a series; null if its time is over. A reset counts as it was stated for the first
 * wait. Later waits are at least as long as those for an unknown reset: neither a provider nor an agent, which may state any
 * time, makes the service start an agent again and again.
 */
export function nextWait(
  { resetMs }: QuotaRefusal,
  { quotaSince, quotaWaits }: QuotaSeries,
  now: Date,
): (QuotaSeries & { readonly until: Date }) | null {
  const since = quotaSince ?? now;
  const endMs = since.getTime() + maxSeriesMs;
  if (now.getTime() >= endMs) return null;
  const backoff = (waits: number) => Math.min(unknownMs * 2 ** Math.min(waits, 10), maxUnknownMs);
  const minWaitMs = quotaWaits === 0 ? minMs : backoff(quotaWaits - 1);
  const waitMs = resetMs === null ? backoff(quotaWaits) : Math.max(resetMs, minWaitMs);
  return {
    until: new Date(Math.min(now.getTime() + waitMs, endMs)),
    quotaSince: since,
    quotaWaits: quotaWaits + 1,
  };
}

// The agent has called a tool in its turn, and has worked for a minute since the last wait: with tool calls alone, an agent that
// invents limits would be started again every few seconds.
const hasProgress = `
  select 1 from log_entry e where e.session_id = $1 and e.kind = 'TOOL_CALL'
     and e.seq > coalesce((select max(t.seq) from log_entry t where t.session_id = $1 and t.kind = 'TURN'), 0)
     and $2::timestamptz >= (select (n.data->>'until')::timestamptz from log_entry n
       where n.session_id = $1 and n.kind = 'NOTICE' and n.data->>'code' = 'provider_limit'
       order by n.seq desc limit 1) limit 1`;

/** The outcome of {@link recordQuotaWait}; `over`: the session has waited for too long. */
export type QuotaOutcome = 'recorded' | 'over';

/**
 * Records that the provider of the model has reached its limit: the session goes back to the queue for the time of the reset,
 * and its turn stays open (docs/agents.md#limits-of-providers). A turn that its user has stopped ends instead.
 */
export async function recordQuotaWait(context: Context, run: ClaimedRun, refusal: QuotaRefusal): Promise<QuotaOutcome> {
  return context.store.transact(async (tx) => {
    const row = await lockRun(tx, run);
    if (row.commandData !== null) {
      await closeTurn(context, tx, run, row, { stopReason: 'cancelled', entries: [], change: {} });
      return 'recorded';
    }
    // Its user has stopped the session before its turn began.
    if (row.queuedAt === null && !row.isTurnOpen) return 'recorded';
    const session = await lockSession(tx, run.sessionId, run.generation);
    const now = context.now();
    const latestEnd = new Date(now.getTime() - minProgressMs);
    const gotOn = row.quotaWaits > 0 && (await tx.query(hasProgress, [run.sessionId, latestEnd])).length > 0;
    const wait = nextWait(refusal, gotOn ? { quotaSince: null, quotaWaits: 0 } : row, now);
    if (wait === null) return 'over';
    // Its answer continues a session with a question.
    const isAsking = session.status === 'running' && session.statusDetail !== 'working';
    const until = isAsking ? now : wait.until;
    await tx.query(
      `update run set queued_at = $2::timestamptz, quota_since = $3::timestamptz, quota_waits = $4 where session_id = $1`,
      [run.sessionId, until, wait.quotaSince, wait.quotaWaits],
    );
    const when = isAsking ? 'once its question is answered' : `at ${spellTime(until)}`;
    const statedUntilMs = refusal.resetMs === null ? Number.POSITIVE_INFINITY : now.getTime() + refusal.resetMs;
    const isLonger = wait.quotaWaits > 1 && until.getTime() > statedUntilMs;
    const reason = isLonger ? ' It waits longer than the provider asks, because its last wait did not help.' : '';
    const notice: NewEntry = {
      kind: 'NOTICE',
      body: `The model’s provider has reached its limit. The session continues ${when}.${reason}`,
      data: { code: 'provider_limit', until: until.toISOString() },
    };
    const waiting = {
      status: 'running',
      statusDetail: 'waiting_for_quota',
      waitsUntil: until,
      request: null,
      requestFrom: null,
      isFresh: session.status === 'resuming' || session.isFresh,
    } as const;
    const entries = [...(await openToolCalls(tx, run.sessionId)), notice];
    await changeSession(context, tx, session, isAsking ? {} : waiting, entries);
    return 'recorded';
  });
}
