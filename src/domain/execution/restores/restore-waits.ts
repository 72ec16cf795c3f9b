import type { Context } from '../../context.ts';
import { changeSession, lockSession } from '../../sessions/change-session.ts';
import { FencedError, type NewEntry } from '../../sessions/log.ts';
import type { ClaimedRun } from '../runs/claims.ts';
import { closeTurn, lockRun } from '../runs/turns.ts';

/** The time after which a restore is tried again. */
const retryMs = 15_000;

/** Thrown if a checkpoint cannot be read or written to the disk now, but may be later. `cause` has the error. */
export class RestoreDelay extends Error {
  /** True if the storage answers, but has no files of the session. */
  readonly isMissing: boolean;

  constructor(message: string, options: { readonly cause: unknown; readonly isMissing?: boolean }) {
    super(message, { cause: options.cause });
    this.name = 'RestoreDelay';
    this.isMissing = options.isMissing ?? false;
  }
}

// Since the last turn, restore or start that it is about: one entry is enough for an outage.
const isMentioned = `
  select 1 from log_entry n where n.session_id = $1 and n.kind = 'NOTICE' and n.data->>'code' = 'workspace_unavailable'
     and n.seq > coalesce((select max(t.seq) from log_entry t where t.session_id = $1 and t.kind in ('TURN', 'NOTICE')
       and (t.kind = 'TURN' or t.data->'workspace'->>'state' in ('restored', 'empty'))), 0) limit 1`;

const outageReason = 'the file storage or the worker’s disk does not work';
const missingReason =
  'the file storage does not have its saved files. The operator of the service should check that it is the right storage';

/**
 * Records that a restore must wait: the session goes back to the queue for any worker, and its turn stays open. A turn that its
 * user has stopped ends instead.
 */
export async function recordRestoreDelay(context: Context, run: ClaimedRun, isMissing: boolean): Promise<void> {
  await context.store.transact(async (tx) => {
    const row = await lockRun(tx, run);
    if (row.commandData !== null) {
      await closeTurn(context, tx, run, row, { stopReason: 'cancelled', entries: [], change: {} });
      return;
    }
    const session = await lockSession(tx, run.sessionId, run.generation);
    const retryAt = new Date(context.now().getTime() + retryMs);
    await tx.query(
      `update run set queued_at = case when queued_at is null then null else $2::timestamptz end,
              home_worker_id = null, is_restore_requested = true where session_id = $1`,
      [run.sessionId, retryAt],
    );
    const notice: NewEntry = {
      kind: 'NOTICE',
      body: `The workspace can’t be restored right now: ${isMissing ? missingReason : outageReason}. The session waits and tries again every 15 seconds.`,
      data: { code: 'workspace_unavailable' },
    };
    const entries = (await tx.query(isMentioned, [run.sessionId])).length > 0 ? [] : [notice];
    await changeSession(context, tx, session, {}, entries);
  });
}

/** {@link recordRestoreDelay} for a run that ends. Never rejects. */
export async function waitForRestore(context: Context, run: ClaimedRun, delay: RestoreDelay): Promise<void> {
  const { sessionId } = run;
  const { message, cause, isMissing } = delay;
  context.log.warn({ err: cause, sessionId }, message);
  try {
    await recordRestoreDelay(context, run, isMissing);
  } catch (error) {
    if (!(error instanceof FencedError))
      context.log.error({ err: error, sessionId }, 'A wait could not be written to the log.');
  }
}
