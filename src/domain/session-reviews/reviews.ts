import { permissionFor } from '../../auth/permissions.ts';
import { organizationsWith } from '../../auth/viewer.ts';
import type { Store } from '../../store/store.ts';
import type { Context } from '../context.ts';

/**
 * The states of a review. `errored`: the session ended, or waits, without a review that was submitted. A later message can still lead to
 * one.
 */
export const reviewStates = ['pending', 'running', 'completed', 'errored'] as const;
/** See {@link reviewStates}. */
export type ReviewState = (typeof reviewStates)[number];

/** The pull request when its review was asked for: texts of its author. */
export interface ReviewedPullRequest {
  readonly title: string;
  /** At most 20,000 characters. */
  readonly body: string;
  /** The login at the forge; null if the account is gone. */
  readonly author: string | null;
  readonly headBranch: string;
  readonly baseBranch: string;
}

/** A review that is to be posted: everything that the forge gets. */
export interface ReviewRequest {
  readonly body: string;
  /** The comments on lines that the diff shows. */
  readonly comments: readonly ReviewLineComment[];
  /** The commit that the agent read. */
  readonly commit: string;
  /** The text with all comments in it, for a forge that refuses comments on lines. */
  readonly wholeBody: string;
}

/** A comment on a line that the diff shows. See NewReviewComment. */
export interface ReviewLineComment {
  readonly path: string;
  readonly line: number;
  readonly side: 'old' | 'new';
  readonly body: string;
  readonly oldPath: string;
  readonly otherLine: number | null;
}

/** The review of a session. Ids are unprefixed. */
export interface SessionReview {
  readonly sessionId: string;
  readonly repositoryId: string;
  readonly host: string;
  readonly path: string;
  /** The number of the pull request. */
  readonly number: number;
  /** The address of the pull request. */
  readonly url: string;
  /** The commit that is reviewed: the one that was cloned, or before that the head when the session was started. */
  readonly commit: string;
  readonly pullRequest: ReviewedPullRequest;
  readonly state: ReviewState;
  /** Null: it is not posted, or has no page. */
  readonly reviewUrl: string | null;
  readonly submittedAt: Date | null;
  readonly createdAt: Date;
}

// A request that a process posts, or posts again, counts as running whatever the session does.
const state = `case when v.submitted_at is not null then 'completed' when v.claimed_until_at is not null then 'running'
  when s.status in ('exit', 'error', 'suspended') or coalesce(s.status_detail, '') = 'waiting_for_user' then 'errored'
  when s.status in ('new', 'claimed') then 'pending' else 'running' end`;

/** The columns of a {@link SessionReview}; `from` of {@link reviewTables}. */
export const reviewColumns = `v.session_id as "sessionId", v.repository_id as "repositoryId", r.host, r.path, v.number, v.url,
  coalesce(r.base_commit, v.head_commit) as "commit", v.pull_request as "pullRequest", ${state} as state, v.review_url as "reviewUrl",
  v.submitted_at as "submittedAt", v.created_at as "createdAt"`;

/** The tables of {@link reviewColumns}. */
export const reviewTables = `session_review v join session s on s.id = v.session_id
  join session_repository r on r.session_id = v.session_id and r.repository_id = v.repository_id`;

/** Reads the review that a session makes, without a check of a viewer. Null: it makes none. */
export async function readReview(store: Pick<Store, 'query'>, sessionId: string): Promise<SessionReview | null> {
  const [row] = await store.query<SessionReview>(
    `select ${reviewColumns} from ${reviewTables} where v.session_id = $1`,
    [sessionId],
  );
  return row ?? null;
}

/**
 * Returns the reviews that these sessions make, by unprefixed ids, in the ids' order. Null for a session that makes none, or that the
 * viewer may not view.
 */
export async function findReviews(
  { store, viewer }: Context,
  sessionIds: readonly string[],
): Promise<(SessionReview | null)[]> {
  const { enterpriseId, all, ids } = organizationsWith(viewer, permissionFor.viewSession);
  const rows = await store.query<SessionReview>(
    `select ${reviewColumns} from ${reviewTables} join organization o on o.id = s.organization_id
      where v.session_id = any($1::text[]) and o.enterprise_id = $2 and ($3::boolean or o.id = any($4::text[]))`,
    [sessionIds, enterpriseId, all, ids],
  );
  const byId = new Map(rows.map((row) => [row.sessionId, row]));
  return sessionIds.map((id) => byId.get(id) ?? null);
}
