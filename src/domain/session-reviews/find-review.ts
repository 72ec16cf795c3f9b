import { permissionFor } from '../../auth/permissions.ts';
import { notFound, refuse } from '../../common/errors.ts';
import type { Context } from '../context.ts';
import { useOrganization } from '../identity/organizations/use-organization.ts';
import { findNamed, readNamed } from './reviewed-pull-request.ts';
import { reviewColumns, reviewTables, type SessionReview } from './reviews.ts';

/** The review to find. `organizationId`: in any form. */
export interface ReviewLookup {
  readonly organizationId: string;
  readonly pullRequestUrl: string;
  /** The reviewed commit, or its beginning of at least 7 characters; null: the head of the pull request at this moment. */
  readonly commitSha: string | null;
}

/**
 * Returns the newest review of a commit of a pull request that sessions of an organization make or have made. Throws NOT_FOUND if there is
 * none, INVALID_INPUT, UNKNOWN_REFERENCE, and INVALID_STATE with the forge's reason.
 */
export async function findReviewOf(
  context: Context,
  { organizationId, pullRequestUrl, commitSha }: ReviewLookup,
): Promise<SessionReview> {
  const organization = await useOrganization(context, organizationId, permissionFor.viewSession);
  const wanted = commitSha?.toLowerCase() ?? null;
  if (wanted !== null && !/^[0-9a-f]{7,64}$/.test(wanted))
    throw refuse(['commitSha'], '"commitSha" must be the id of a commit, or its first 7 or more characters.');
  const named = await findNamed(context, organization.id, pullRequestUrl);
  const head = wanted ?? (await readNamed(named)).headCommit;
  const [row] = await context.store.query<SessionReview>(
    `select ${reviewColumns} from ${reviewTables}
      where v.organization_id = $1 and v.repository_id = $2 and v.number = $3
        and starts_with(coalesce(r.base_commit, v.head_commit), $4)
      order by v.created_at desc, v.session_id desc limit 1`,
    [organization.id, named.usable.repositoryId, named.number, head],
  );
  if (!row) throw notFound('review');
  return row;
}
