import { permissionFor } from '../../auth/permissions.ts';
import { organizationsWith } from '../../auth/viewer.ts';
import { selectFields } from '../../store/tables.ts';
import type { Context } from '../context.ts';
import { detailFields, isReviewedIn, type PullRequestDetails } from './details.ts';

/**
 * Returns the details of the pull requests of these sessions, by unprefixed ids, in the ids' order. Empty for a session that the viewer
 * may not view.
 */
export async function listPullRequestDetails(
  { store, viewer }: Context,
  sessionIds: readonly string[],
): Promise<PullRequestDetails[][]> {
  const { enterpriseId, all, ids } = organizationsWith(viewer, permissionFor.viewSession);
  const rows = await store.query<PullRequestDetails>(
    `select ${selectFields('PullRequest', 'p', detailFields)}, r.settings, ${isReviewedIn('p')} as "isReviewed"
       from pull_request p
       left join repository r on r.id = p.repository_id
       join session s on s.id = p.session_id join organization o on o.id = s.organization_id
      where p.session_id = any($1::text[]) and o.enterprise_id = $2 and ($3::boolean or o.id = any($4::text[]))`,
    [sessionIds, enterpriseId, all, ids],
  );
  const found = new Map<string, PullRequestDetails[]>(sessionIds.map((id) => [id, []]));
  for (const row of rows) found.get(row.sessionId)?.push(row);
  return sessionIds.map((id) => found.get(id) ?? []);
}
