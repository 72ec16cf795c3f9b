import type { Context } from '../../context.ts';
import { newId } from '../../ids.ts';
import type { ClaimedRun } from '../runs/claims.ts';
import { lockRun } from '../runs/turns.ts';

/** Identifies a result: the same key means the same set-up. Ids are unprefixed. */
export interface BuildKey {
  readonly organizationId: string;
  readonly repositoryId: string;
  readonly hash: string;
}

/** A stored result of a set-up. */
export interface ReadyBuild {
  readonly id: string;
  readonly hash: string;
  /** The session that owns its checkpoint. */
  readonly sessionId: string;
  readonly checkpointId: string;
}

/** Maximum number of characters of the log of a build. */
export const maxLogCharacters = 60_000;

/** The time after which a build that has not ended is taken for the remains of a crash: no set-up may take so long. */
const abandonedMs = 3 * 60 * 60_000;

// Of two sessions that set up the same, one stores its result. A session that was interrupted goes on with its own build.
const claim = `
  insert into environment_build as b (id, organization_id, repository_id, hash, machine, state, session_id, commit, created_at, started_at, used_at)
  select $1, o.id, $3, $4, $5, 'BUILDING', $6, $7, $8::timestamptz, $8::timestamptz, $8::timestamptz
    from organization o where o.id = $2 and o.deleted_at is null
  on conflict (organization_id, repository_id, hash) do update
     set state = 'BUILDING', trigger = 'SESSION', definition = null, session_id = excluded.session_id, commit = excluded.commit, machine = excluded.machine, checkpoint_id = null,
         log = '', bytes = 0, started_at = excluded.started_at, finished_at = null, used_at = excluded.used_at
   where b.state = 'FAILED' or (b.state = 'BUILDING' and b.trigger = 'SESSION' and (b.session_id = excluded.session_id or b.started_at < $9::timestamptz))
  returning b.id`;

/** Claims the right to store the result of a set-up. Returns the id of the build; null: it is stored, or another session is about to. */
export async function claimBuild(
  { store, now }: Pick<Context, 'store' | 'now'>,
  { organizationId, repositoryId, hash }: BuildKey,
  { machine, sessionId, commit }: { readonly machine: string; readonly sessionId: string; readonly commit: string },
): Promise<string | null> {
  const at = now();
  const [row] = await store.execute<{ id: string }>(claim, [
    ...[newId(), organizationId, repositoryId, hash, machine, sessionId, commit, at],
    new Date(at.getTime() - abandonedMs),
  ]);
  return row?.id ?? null;
}

const complete = `
  update environment_build b set state = 'READY', checkpoint_id = c.id, bytes = c.bytes, log = $3, finished_at = $4::timestamptz, used_at = $4::timestamptz
    from run r join checkpoint c on c.id = r.checkpoint_id
   where b.id = $1 and b.session_id = $2 and b.state = 'BUILDING' and r.session_id = $2 returning b.id`;

/** Makes the newest checkpoint of the run's session the result of a build. Throws FencedError. */
export async function completeBuild(context: Context, run: ClaimedRun, buildId: string, log: string): Promise<void> {
  await context.store.transact(async (tx) => {
    await lockRun(tx, run);
    await tx.query(complete, [buildId, run.sessionId, log.slice(-maxLogCharacters), context.now()]);
  });
}

/** Records that a build has no result. */
export async function failBuild(
  { store, now }: Pick<Context, 'store' | 'now'>,
  { sessionId }: Pick<ClaimedRun, 'sessionId'>,
  buildId: string,
  log: string,
): Promise<void> {
  await store.execute(
    `update environment_build set state = 'FAILED', log = $3, finished_at = $4::timestamptz
      where id = $1 and session_id = $2 and state = 'BUILDING' returning id`,
    [buildId, sessionId, log.slice(-maxLogCharacters), now()],
  );
}

/** Returns true if the repository has a stored result in an organization. */
export async function hasReadyBuild(
  { store }: Pick<Context, 'store'>,
  { organizationId, repositoryId }: Omit<BuildKey, 'hash'>,
): Promise<boolean> {
  const rows = await store.query(
    `select 1 from environment_build where organization_id = $1 and repository_id = $2 and state = 'READY' limit 1`,
    [organizationId, repositoryId],
  );
  return rows.length > 0;
}

/** Returns the stored result of a key; if there is none, the newest one of the same machine, as a basis; null: there is neither. */
export async function findReadyBuild(
  { store }: Pick<Context, 'store'>,
  { organizationId, repositoryId, hash }: BuildKey,
  machine: string,
): Promise<ReadyBuild | null> {
  const [build] = await store.query<ReadyBuild>(
    `select b.id, b.hash, b.session_id as "sessionId", b.checkpoint_id as "checkpointId"
       from environment_build b join checkpoint c on c.id = b.checkpoint_id
      where b.organization_id = $1 and b.repository_id = $2 and b.state = 'READY' and b.machine = $4
      order by b.hash = $3 desc, b.finished_at desc limit 1`,
    [organizationId, repositoryId, hash, machine],
  );
  return build ?? null;
}

/** Forgets a build whose result cannot be restored, by the id of its checkpoint. */
export async function forgetBuild({ store }: Pick<Context, 'store'>, checkpointId: string): Promise<void> {
  await store.execute(`delete from environment_build where checkpoint_id = $1 returning id`, [checkpointId]);
}
