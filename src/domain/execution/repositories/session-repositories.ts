import { cloneUrlOf } from '../../../forges/support/connection.ts';
import type { MirrorKey } from '../../../git/mirrors.ts';
import type { Context } from '../../context.ts';

/** A repository of a session, as a run reads it. */
export interface SessionRepositoryRow {
  readonly position: number;
  readonly repositoryId: string;
  readonly host: string;
  readonly path: string;
  /** The host or base URL of the connection that the session was started with. */
  readonly address: string;
  readonly requestedRef: string | null;
  /** The branch or tag that the session began at; null: a commit, another ref or none, or there was no clone yet. */
  readonly baseRef: string | null;
  readonly baseCommit: string | null;
  readonly branch: string;
  readonly pullRequestNumber: number | null;
  readonly directory: string;
  readonly isReadOnly: boolean;
  readonly state: 'PENDING' | 'CLONING' | 'READY' | 'FAILED';
  /** Pushes that an earlier run sent to the forge, and whose outcomes are not in the log. */
  readonly pendingPushes: Readonly<Record<string, PendingPush>>;
}

/** A ref of a push that the forge may have taken. Object ids; null: the ref did not exist, or is to be deleted. */
export interface PendingPush {
  readonly ref: string;
  readonly old: string | null;
  readonly new: string | null;
  /** The time before the push, in ISO 8601; missing: an earlier version recorded it. */
  readonly at?: string;
}

/** The repositories of a session, in order, with the tenant that its mirrors belong to. */
export interface SessionRepositories {
  readonly enterpriseId: string;
  readonly repositories: readonly SessionRepositoryRow[];
}

/** Reads the repositories of a session, which are at most twenty. */
export async function readSessionRepositories(context: Context, sessionId: string): Promise<SessionRepositories> {
  const rows = await context.store.query<SessionRepositoryRow & { enterpriseId: string }>(
    `select o.enterprise_id as "enterpriseId", r.position, r.repository_id as "repositoryId", r.host, r.path, coalesce(c.host, r.host) as address,
            r.requested_ref as "requestedRef", r.base_ref as "baseRef", r.base_commit as "baseCommit", r.branch,
            r.pull_request_number as "pullRequestNumber", r.directory,
            r.is_read_only as "isReadOnly", r.state, r.pending_pushes as "pendingPushes"
       from session_repository r join session s on s.id = r.session_id join organization o on o.id = s.organization_id
       left join git_connection c on c.id = r.git_connection_id
      where r.session_id = $1 order by r.position`,
    [sessionId],
  );
  return { enterpriseId: rows[0]?.enterpriseId ?? '', repositories: rows };
}

/**
 * Returns true if anybody may have written the code of a cloned repository: it began at a pull request, or at a ref or commit that no branch
 * or tag has. Forges let forks add such refs and commits.
 */
export function mayBeOfStranger({
  pullRequestNumber,
  requestedRef,
  baseRef,
}: Pick<SessionRepositoryRow, 'pullRequestNumber' | 'requestedRef' | 'baseRef'>): boolean {
  return pullRequestNumber !== null || (requestedRef !== null && baseRef === null);
}

/**
 * Identifies the mirror of a repository by its address. Connections of one host may have base URLs with different paths, below which
 * equal paths are different repositories.
 */
export function mirrorKey(enterpriseId: string, host: string, cloneUrl: string): MirrorKey {
  const path = new URL(cloneUrl).pathname.replace(/^\/+/, '').replace(/\.git$/, '');
  return { ownerId: enterpriseId, host, path };
}

/** Returns the {@link mirrorKey} of the repository that a session was started with. */
export function mirrorKeyOfRow(enterpriseId: string, { host, path, address }: SessionRepositoryRow): MirrorKey {
  return mirrorKey(enterpriseId, host, cloneUrlOf(address, path));
}

/** Records that a repository was fetched from its forge, through the connection of this unprefixed id. */
export async function recordRepositoryRead(
  context: Context,
  repositoryId: string,
  { connectionId, defaultBranch }: { readonly connectionId: string; readonly defaultBranch: string | null },
): Promise<void> {
  await context.store.execute(
    `update repository
        set read_at = $2, updated_at = $2, git_connection_id = $3, default_branch = coalesce($4, default_branch)
      where id = $1 returning id`,
    [repositoryId, context.now(), connectionId, defaultBranch],
  );
}

/** The new state of a session's repository. */
export interface RepositoryState {
  readonly state: SessionRepositoryRow['state'];
  /** The base that was found; if missing: it stays. */
  readonly base?: { readonly ref: string | null; readonly commit: string | null };
  /** The reason of FAILED. */
  readonly message?: string;
}

/** Records the state of a session's repository. */
export async function recordRepositoryState(
  context: Context,
  { sessionId, position }: { readonly sessionId: string; readonly position: number },
  { state, base, message }: RepositoryState,
): Promise<void> {
  await context.store.execute(
    `update session_repository
        set state = $3, error = $4::jsonb, updated_at = $5,
            base_ref = case when $6 then $7 else base_ref end, base_commit = case when $6 then $8 else base_commit end
      where session_id = $1 and position = $2
      returning position`,
    [
      sessionId,
      position,
      state,
      message === undefined ? null : JSON.stringify({ message }),
      context.now(),
      base !== undefined,
      base?.ref ?? null,
      base?.commit ?? null,
    ],
  );
}
