import { permissionFor } from '../../auth/permissions.ts';
import { organizationsWith } from '../../auth/viewer.ts';
import type { Context } from '../context.ts';

/** The mention that started a session. The texts are those of a forge. */
export interface SessionMention {
  /** Unprefixed. */
  readonly sessionId: string;
  /** The login at the forge. */
  readonly author: string;
  /** The path of the repository. */
  readonly path: string;
  /** Of the issue or the pull request. */
  readonly number: number;
  readonly isPullRequest: boolean;
  /** The page of the text; null if the forge did not say. */
  readonly url: string | null;
}

/**
 * Returns the mentions that started these sessions, by unprefixed ids, in the ids' order. Null for a session that no mention started, that
 * the viewer may not view, or whose mention is deleted. Later mentions, which were messages to the session, do not count.
 */
export async function findSessionMentions(
  { store, viewer }: Context,
  sessionIds: readonly string[],
): Promise<(SessionMention | null)[]> {
  const { enterpriseId, all, ids } = organizationsWith(viewer, permissionFor.viewSession);
  const rows = await store.query<SessionMention>(
    `select m.session_id as "sessionId", m.author_login as author, m.path, m.number, m.is_pull_request as "isPullRequest", m.url
       from mention m join session s on s.id = m.session_id
       join organization o on o.id = s.organization_id and o.deleted_at is null
      where m.session_id = any($1::text[]) and m.is_start and o.enterprise_id = $2 and ($3::boolean or o.id = any($4::text[]))`,
    [sessionIds, enterpriseId, all, ids],
  );
  const byId = new Map(rows.map((row) => [row.sessionId, row]));
  return sessionIds.map((id) => byId.get(id) ?? null);
}
