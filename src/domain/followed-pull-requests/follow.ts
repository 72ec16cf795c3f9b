import { parseUrl } from '../../common/parse-url.ts';
import { isForgeError } from '../../forges/interface/errors.ts';
import type { ForgeKind } from '../../forges/interface/forge.ts';
import type { Transaction } from '../../store/store.ts';
import type { Services } from '../context.ts';
import { newId } from '../ids.ts';

type FollowServices = Pick<Services, 'forges' | 'notifier' | 'now'>;

/** A pull request at a forge, of a session's repository. Ids are unprefixed. */
export interface PullRequestRef {
  readonly sessionId: string;
  readonly repositoryId: string;
  readonly gitConnectionId: string;
  readonly path: string;
  readonly number: number;
  readonly url: string;
}

/** Follows the state of a pull request for a session: reads it soon, and from then on by webhooks and polls. */
export async function followPullRequest(
  { now, notifier }: Omit<FollowServices, 'forges'>,
  tx: Transaction,
  { sessionId, repositoryId, gitConnectionId, path, number, url }: PullRequestRef,
): Promise<void> {
  const [followed] = await tx.query<{ id: string }>(
    `insert into followed_pull_request as f (id, git_connection_id, path, path_key, number, due_at, wanted_at, created_at)
     values ($1, $2, $3, lower($3), $4, $5::timestamptz, $5::timestamptz, $5::timestamptz)
     on conflict (git_connection_id, path_key, number) do update
       set validator = null, due_at = least(f.due_at, $5::timestamptz), wanted_at = least(f.wanted_at, $5::timestamptz)
     returning id`,
    [newId(), gitConnectionId, path, number, now()],
  );
  await tx.query(
    `insert into following_session (followed_pull_request_id, session_id, repository_id, url) values ($1, $2, $3, $4)
     on conflict do nothing`,
    [followed?.id, sessionId, repositoryId, url],
  );
  tx.afterCommit(() => notifier.notify('pull-requests'));
}

/** Follows a pull request that a session reported, if it is of one of the session's repositories. Otherwise does nothing. */
export async function followReported(
  services: FollowServices,
  tx: Transaction,
  session: { readonly id: string },
  url: string,
): Promise<void> {
  const rows = await tx.query<ReportingRepository>(
    `select r.repository_id as "repositoryId", r.git_connection_id as "gitConnectionId", r.path, c.host,
            c.provider_type as kind
       from session_repository r join git_connection c on c.id = r.git_connection_id and c.deleted_at is null
      where r.session_id = $1 order by r.position`,
    [session.id],
  );
  for (const { host, kind, ...row } of rows) {
    const number = numberIn(services, url, { host, kind, ...row });
    if (number === null) continue;
    await followPullRequest(services, tx, { ...row, sessionId: session.id, number, url });
    return;
  }
}

interface ReportingRepository {
  readonly repositoryId: string;
  readonly gitConnectionId: string;
  readonly path: string;
  readonly host: string;
  readonly kind: ForgeKind;
}

/** Reads the number of a pull request of exactly this repository from its URL; null for any other URL. */
function numberIn({ forges }: FollowServices, url: string, { host, path, kind }: ReportingRepository): number | null {
  if (kind === 'git_https') return null;
  const parsed = parseUrl(url);
  const base = parseUrl(baseUrlOf(forges, host) ?? '');
  if (!parsed || !base || parsed.host !== base.host) return null;
  const [, of, digits] = /^(.+?)\/(?:pulls?|-\/merge_requests)\/(\d{1,9})$/.exec(parsed.pathname) ?? [];
  const wanted = `${base.pathname.replace(/\/+$/, '')}/${path}`;
  return of?.toLowerCase() === wanted.toLowerCase() && Number(digits) > 0 ? Number(digits) : null;
}

function baseUrlOf(forges: FollowServices['forges'], host: string): string | null {
  try {
    return forges.readAddress(host).baseUrl;
  } catch (error) {
    if (isForgeError(error)) return null;
    throw error;
  }
}
