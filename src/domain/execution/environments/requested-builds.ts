import type { Transaction } from '../../../store/store.ts';
import type { Context } from '../../context.ts';
import { changeSession, lockSession } from '../../sessions/change-session.ts';
import { waiting } from '../../sessions/inbox.ts';
import type { ClaimedRun } from '../runs/claims.ts';
import { lockRun } from '../runs/turns.ts';
import { type BuildKey, maxLogCharacters } from './builds.ts';

/** The set-up of a requested build, whose key is known once its repository has been read. */
export interface BegunBuild {
  readonly buildId: string;
  readonly key: BuildKey;
  readonly machine: string;
  readonly commit: string;
}

/** Records that the set-up of a requested build begins. Throws FencedError. */
export async function recordBegin(
  context: Context,
  run: ClaimedRun,
  { buildId, machine, commit }: Omit<BegunBuild, 'key'>,
): Promise<void> {
  await context.store.transact(async (tx) => {
    await lockRun(tx, run);
    await tx.query(
      `update environment_build set state = 'BUILDING', machine = $2, commit = $3, log = '', started_at = $4::timestamptz
        where id = $1 and state in ('QUEUED', 'BUILDING')`,
      [buildId, machine, commit, context.now()],
    );
  });
}

/** Records the masked log of a build that runs, unless another worker has the session. */
export async function recordLog(
  { store }: Pick<Context, 'store'>,
  { sessionId, generation }: Pick<ClaimedRun, 'sessionId' | 'generation'>,
  buildId: string,
  log: string,
): Promise<void> {
  await store.execute(
    `update environment_build b set log = $4 from run r
      where b.id = $1 and b.state = 'BUILDING' and r.session_id = $2 and r.generation = $3 returning b.id`,
    [buildId, sessionId, generation, log.slice(-maxLogCharacters)],
  );
}

// A result replaces an earlier one of the same key, and a failure an earlier failure: the key is unique.
const replaced = `
  delete from environment_build where organization_id = $1 and repository_id = $2 and hash = $3 and id <> $4
     and ($5::boolean or state = 'FAILED') returning id`;

const succeeded = `
  update environment_build b set state = 'READY', hash = $3, checkpoint_id = c.id, bytes = c.bytes, log = $4, finished_at = $5::timestamptz,
         used_at = case when b.trigger = 'PUSH' then b.used_at else $5::timestamptz end
    from run r join checkpoint c on c.id = r.checkpoint_id
   where b.id = $1 and b.state in ('QUEUED', 'BUILDING') and r.session_id = $2`;

const failed = `
  update environment_build b set state = 'FAILED', log = $2, finished_at = $3::timestamptz,
         hash = case when $4::text is null or exists (
           select 1 from environment_build o
            where o.organization_id = b.organization_id and o.repository_id = b.repository_id and o.hash = $4) then b.hash else $4 end
   where b.id = $1 and b.state in ('QUEUED', 'BUILDING')`;

/** Makes the newest checkpoint of the run's session the result of a requested build, in place of an earlier result of the same key. Throws FencedError. */
export async function recordResult(context: Context, run: ClaimedRun, begun: BegunBuild, log: string): Promise<void> {
  const { buildId, key } = begun;
  const values = [buildId, run.sessionId, key.hash, log.slice(-maxLogCharacters), context.now()];
  await settle(context, run, begun, true, (tx) => tx.query(succeeded, values));
}

/** Records that a requested build has no result. `begun.key`: null if it is not known. Throws FencedError. */
export async function recordNoResult(
  context: Context,
  run: ClaimedRun,
  begun: { readonly buildId: string; readonly key: BuildKey | null },
  log: string,
): Promise<void> {
  const values = [begun.buildId, log.slice(-maxLogCharacters), context.now(), begun.key?.hash ?? null];
  await settle(context, run, begun, false, (tx) => tx.query(failed, values));
}

async function settle(
  context: Context,
  run: ClaimedRun,
  { buildId, key }: { readonly buildId: string; readonly key: BuildKey | null },
  hasResult: boolean,
  write: (tx: Transaction) => Promise<unknown>,
): Promise<void> {
  await context.store.transact(async (tx) => {
    await lockRun(tx, run);
    if (key !== null) await tx.query(replaced, [key.organizationId, key.repositoryId, key.hash, buildId, hasResult]);
    await write(tx);
  });
}

/** Removes a requested build that nothing was to be built for. */
export async function removeBuild({ store }: Pick<Context, 'store'>, buildId: string): Promise<void> {
  await store.execute(`delete from environment_build where id = $1 and state in ('QUEUED', 'BUILDING') returning id`, [
    buildId,
  ]);
}

/** Returns true if a requested build has neither a result nor a failure. */
export async function isUnsettled({ store }: Pick<Context, 'store'>, buildId: string): Promise<boolean> {
  const rows = await store.query(`select 1 from environment_build where id = $1 and state in ('QUEUED', 'BUILDING')`, [
    buildId,
  ]);
  return rows.length > 0;
}

const hasMessages = `
  select 1 from log_entry e join run r on r.session_id = e.session_id where e.session_id = $1 and ${waiting} limit 1`;

/**
 * Finishes the session of a requested build, whose workspace nobody needs. If somebody has sent it a message, it becomes a session like
 * any other, with the workspace of the set-up. Throws FencedError.
 */
export async function endBuildSession(context: Context, run: ClaimedRun): Promise<void> {
  const { sessionId, generation } = run;
  await context.store.transact(async (tx) => {
    await lockRun(tx, run);
    const session = await lockSession(tx, sessionId, generation);
    tx.afterCommit(() => context.notifier.notify('runs'));
    if ((await tx.query(hasMessages, [sessionId])).length > 0) return;
    await tx.query(
      `update run set queued_at = null, crash_count = 0, workspace_deletion_requested_at = $2::timestamptz where session_id = $1`,
      [sessionId, context.now()],
    );
    const finished = { status: 'exit', statusDetail: 'finished', endedBy: 'finished', isFresh: false } as const;
    await changeSession(context, tx, session, { ...finished, request: null, requestFrom: null });
  });
}
