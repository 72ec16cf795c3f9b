import type { PullRequestComment, Review } from '../../forges/interface/pull-requests.ts';
import type { Store } from '../../store/store.ts';
import type { ClaimedRead } from '../followed-pull-requests/claim-reads.ts';

/** The texts of a pull request that are no mentions of the service. */
export interface Unmentioned {
  readonly reviews: readonly Review[];
  readonly comments: readonly PullRequestComment[];
  /** True: one of the others may turn out to be no mention. */
  readonly isUnsettled: boolean;
}

/** Leaves out the texts that reach a session as mentions, so that they do not reach it as follow-ups too. */
export async function withoutMentions(
  store: Pick<Store, 'query'>,
  { gitConnectionId, path, number }: Pick<ClaimedRead, 'gitConnectionId' | 'path' | 'number'>,
  { reviews, comments }: Pick<Unmentioned, 'reviews' | 'comments'>,
): Promise<Unmentioned> {
  const keys = [...reviews.map(reviewKey), ...comments.flatMap(commentKeys)];
  if (keys.length === 0) return { reviews, comments, isUnsettled: false };
  const rows = await store.query<{ key: string; isPending: boolean }>(
    `select m.source_key as key, m.status = 'pending' as "isPending"
       from git_connection c join mention m on m.enterprise_id = c.enterprise_id and m.host = c.host_key and m.path_key = lower($2)
      where c.id = $1 and m.source_key = any($4::text[]) and m.number = $3 and m.is_pull_request
        and (m.status = 'pending' or m.session_id is not null)`,
    [gitConnectionId, path, number, keys],
  );
  const mentioned = new Set(rows.map(({ key }) => key));
  return {
    reviews: reviews.filter((each) => !mentioned.has(reviewKey(each))),
    comments: comments.filter((each) => !commentKeys(each).some((key) => mentioned.has(key))),
    isUnsettled: rows.some(({ isPending }) => isPending),
  };
}

// The keys of a mention are those of its webhook. GitLab has one kind of comments.
const reviewKey = ({ id }: Review) => `review:${id}`;
const commentKeys = ({ id, threadId }: PullRequestComment) => [
  threadId === null ? `comment:${id}` : `line:${id}`,
  `note:${id}`,
];
