import { permissionFor } from '../../../auth/permissions.ts';
import { organizationsWith } from '../../../auth/viewer.ts';
import { fieldsOf, type Narrowed, selectFields } from '../../../store/tables.ts';
import type { Context } from '../../context.ts';

const fields = fieldsOf('SessionRepository', ['gitConnectionId', 'isBranchNamed', 'createdAt']);

/** The states of a session's repository. */
export type SessionRepositoryState = 'PENDING' | 'CLONING' | 'READY' | 'FAILED';

interface Values {
  readonly state: SessionRepositoryState;
  readonly error: { readonly message?: unknown } | null;
}

/** A repository that a session works on, as the APIs read it. */
export type SessionRepositoryRecord = Narrowed<'SessionRepository', (typeof fields)[number], Values> & {
  /** False for a server with git alone. */
  readonly hasPullRequests: boolean;
};

/**
 * Returns the repositories of these sessions, by unprefixed ids, in the ids' order and each in the order of the session. Empty for a
 * session that the viewer may not view.
 */
export async function listSessionRepositories(
  { store, viewer }: Context,
  sessionIds: readonly string[],
): Promise<SessionRepositoryRecord[][]> {
  const { enterpriseId, all, ids } = organizationsWith(viewer, permissionFor.viewSession);
  const rows = await store.query<SessionRepositoryRecord>(
    `select ${selectFields('SessionRepository', 'r', fields)}, coalesce(c.provider_type <> 'git_https', true) as "hasPullRequests"
       from session_repository r
       join session s on s.id = r.session_id join organization o on o.id = s.organization_id
       left join git_connection c on c.id = r.git_connection_id
      where r.session_id = any($1::text[]) and o.enterprise_id = $2 and ($3::boolean or o.id = any($4::text[]))
      order by r.session_id, r.position`,
    [sessionIds, enterpriseId, all, ids],
  );
  const found = new Map<string, SessionRepositoryRecord[]>(sessionIds.map((id) => [id, []]));
  for (const row of rows) found.get(row.sessionId)?.push(row);
  return sessionIds.map((id) => found.get(id) ?? []);
}
