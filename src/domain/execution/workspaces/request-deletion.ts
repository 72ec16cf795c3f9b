import { permissionFor } from '../../../auth/permissions.ts';
import { DomainError } from '../../../common/errors.ts';
import { audit } from '../../audit/record-audit.ts';
import { isKept } from '../../checkpoints/kept-checkpoints.ts';
import type { Context } from '../../context.ts';
import { requireSessionFree } from '../../legal-holds/change-legal-holds.ts';
import { getSessionFor, type SessionTarget } from '../../sessions/find-session.ts';
import type { SessionRecord } from '../../sessions/session.ts';
import type { SessionStatus } from '../../sessions/status.ts';
import { lockRunAndSession } from '../../sessions/suspend-session.ts';

const awake: ReadonlySet<SessionStatus> = new Set(['new', 'claimed', 'running', 'resuming']);

/**
 * Requests that the worker with a session's workspace and its agent's home deletes them now, and deletes its checkpoints,
 * except those of snapshots. Its log stays. If the session is resumed later, it starts with an empty workspace. Does nothing if there is none, or if it was requested
 * before. Throws NOT_FOUND, FORBIDDEN, and INVALID_STATE for a running session, and for one that a
 * legal hold covers.
 */
export async function requestWorkspaceDeletion(context: Context, input: SessionTarget): Promise<SessionRecord> {
  return requestDeletionSeen(context, await getSessionFor(context, permissionFor.changeSession, input));
}

/** {@link requestWorkspaceDeletion} for the domain's own use, without a permission check. */
export function requestDeletionSeen(context: Context, { id }: Pick<SessionRecord, 'id'>): Promise<SessionRecord> {
  return context.store.transact(async (tx) => {
    const session = await lockRunAndSession(tx, id);
    if (awake.has(session.status)) {
      const message = `A session in status "${session.status}" uses its workspace: suspend, archive or terminate it first.`;
      throw new DomainError('INVALID_STATE', message);
    }
    await requireSessionFree(tx, id);
    const requested = await tx.query(
      `update run set workspace_deletion_requested_at = $2::timestamptz, checkpoint_id = null, is_restore_requested = false
        where session_id = $1 and (home_worker_id is not null or checkpoint_id is not null) and workspace_deletion_requested_at is null
          and workspace_deleted_at is null returning session_id`,
      [id, context.now()],
    );
    if (requested.length === 0) return session;
    // Also if the worker with the workspace is gone: they have the same files.
    await tx.query(`delete from checkpoint c where c.session_id = $1 and not ${isKept}`, [id]);
    // A finished session may still have a warm agent, which is stopped.
    await tx.query(
      `with r as (update run set generation = generation + 1 where session_id = $1 returning generation)
       update session_head h set generation = r.generation from r where h.session_id = $1 returning h.session_id`,
      [id],
    );
    const { organizationId } = session;
    await audit(context, tx, 'delete_session_workspace', { organizationId, sessionId: id, targetId: id });
    tx.afterCommit(() => {
      context.notifier.notify(`command:${id}`);
      context.notifier.notify('workspaces');
    });
    return session;
  });
}

/** State of a session's workspace. */
export interface WorkspaceState {
  /** The time of the request to delete it; null: none, or it is done. */
  readonly deletionRequestedAt: Date | null;
  /** The time of its deletion; null: not deleted, or an agent has started with a new one since. */
  readonly deletedAt: Date | null;
}

const noState: WorkspaceState = { deletionRequestedAt: null, deletedAt: null };

/** Reads the workspace states of sessions that the viewer may view, in their order. */
export async function readWorkspaceStates(context: Context, ids: readonly string[]): Promise<WorkspaceState[]> {
  const rows = await context.store.query<WorkspaceState & { id: string }>(
    `select session_id as id, workspace_deletion_requested_at as "deletionRequestedAt", workspace_deleted_at as "deletedAt"
       from run where session_id = any($1::text[])`,
    [ids],
  );
  const states = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => states.get(id) ?? noState);
}
