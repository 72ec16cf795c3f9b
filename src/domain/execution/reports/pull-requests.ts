import type { Context } from '../../context.ts';
import { followReported } from '../../followed-pull-requests/follow.ts';
import { lockSession } from '../../sessions/change-session.ts';
import type { PullRequest } from '../../sessions/session.ts';
import { writePullRequest } from '../../sessions/write-pull-request.ts';
import type { ClaimedRun } from '../runs/claims.ts';

/** Tool output with more pull requests than this is a list of other people's. */
const maxUrlsPerOutput = 3;
/** Only the end of a longer text is searched. */
const maxCharacters = 100_000;

const host = String.raw`(https?)://(?:[^\s/@"'<>]+@)?([A-Za-z0-9.-]+(?::\d+)?)`;
const part = String.raw`[^\s/?#"'<>()\[\]{}]+`;

// The forms of pull request URLs, also on self-hosted servers: GitHub (and Gitea), GitLab, Azure DevOps, Bitbucket.
const forms = [
  `${host}/(${part}/${part}/pulls?/\\d+)`,
  `${host}/(${part}(?:/${part}){1,8}/-/merge_requests/\\d+)`,
  `${host}/(${part}/(?:${part}/)?_git/${part}/pullrequest/\\d+)`,
  `${host}/(${part}/${part}/pull-requests/\\d+)`,
  `${host}/((?:projects|users)/${part}/repos/${part}/pull-requests/\\d+)`,
].map((form) => new RegExp(form, 'g'));

/**
 * Returns the URLs of pull requests in a text, without duplicates, and without the text before the host or after the
 * number.
 */
export function findPullRequestUrls(text: string): string[] {
  const end = text.slice(-maxCharacters);
  const found = forms.flatMap((form) =>
    [...end.matchAll(form)].map(([, scheme, name, path]) => `${scheme}://${name}/${path}`),
  );
  return [...new Set(found)];
}

/** Returns the stored form of a pull request's URL; null if it is not one. */
export function cleanPullRequestUrl(url: string): string | null {
  return findPullRequestUrls(url.trim())[0] ?? null;
}

/**
 * Records the pull requests that a text of the agent names, as open, without those that are known or that a message of
 * a user has named already: the session has not created the latter. Throws FencedError.
 */
export async function recordPullRequestsIn(context: Context, run: ClaimedRun, text: string): Promise<void> {
  const urls = findPullRequestUrls(text);
  if (urls.length === 0 || urls.length > maxUrlsPerOutput) return;
  const rows = await context.store.query<{ url: string }>(
    `select u.url from unnest($2::text[]) as u(url) join session s on s.id = $1
      where not s.pull_requests @> jsonb_build_array(jsonb_build_object('url', u.url))
        and not exists (select 1 from log_entry e where e.session_id = $1 and e.message_type is not null
          and e.message_type <> 'agent_message' and strpos(e.body, u.url) > 0)`,
    [run.sessionId, urls],
  );
  for (const { url } of rows) await recordPullRequest(context, run, { url, state: 'open' });
}

/** Records a pull request, or its new state. False: nothing was new, or there are too many. Throws FencedError. */
export async function recordPullRequest(context: Context, run: ClaimedRun, pullRequest: PullRequest): Promise<boolean> {
  return context.store.transact(async (tx) => {
    const session = await lockSession(tx, run.sessionId, run.generation);
    const isNew = await writePullRequest(context, tx, session, { pullRequest, generation: run.generation });
    if (isNew && pullRequest.state === 'open') await followReported(context, tx, session, pullRequest.url);
    return isNew;
  });
}
