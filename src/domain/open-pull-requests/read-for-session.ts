import { plainLine, plainLines, shorten } from '../../common/plain-text.ts';
import type {
  Check,
  PullRequestComment,
  PullRequestStatus,
  PullRequests,
} from '../../forges/interface/pull-requests.ts';
import type { Services } from '../context.ts';
import { asDomainError } from './failures.ts';
import { findTarget, type PullRequestSession } from './target.ts';

/** Maximum number of failed checks whose logs are read. */
const maxLogs = 3;
/** Maximum length of the end of a log, of a comment, and of the whole answer, in characters. */
const maxLog = 10_000;
const maxComment = 5_000;
const maxAnswer = 60_000;
/** Maximum number of comments: the newest. */
const maxComments = 50;

/**
 * Reads the open pull request of a session's branch, or the one with this number, from its forge, as a text for the agent. Throws
 * UNKNOWN_REFERENCE, and INVALID_STATE with the forge's reason.
 */
export async function readForSession(
  services: Pick<Services, 'store' | 'keyring' | 'forges'>,
  session: PullRequestSession,
  repository: string | null,
  reviewed: number | null = null,
): Promise<string> {
  return asDomainError(async () => {
    const { pullRequests, path, branch } = await findTarget(services, session, repository);
    const found = await (reviewed === null ? pullRequests.find(path, branch) : pullRequests.get(path, reviewed));
    if (!found) return `The branch ${JSON.stringify(branch)} has no open pull request in ${path}.`;
    const status = await pullRequests.read(path, found.number);
    if (!status) return `The pull request ${found.url} is open.`;
    const { comments } = await pullRequests.comments(path, found.number);
    const failed = status.checks.filter(({ state, hasLog }) => state === 'failed' && hasLog).slice(0, maxLogs);
    const logs: string[] = [];
    for (const check of failed) logs.push(await logOf(pullRequests, path, check));
    const parts = [summaryOf(status), ...logs, ...comments.slice(-maxComments).map(commentText)];
    return shorten(parts.join('\n\n'), maxAnswer);
  });
}

function summaryOf(status: PullRequestStatus): string {
  const { url, title, state, mergeable, checks, reviews } = status;
  const login = (author: { readonly login: string } | null) => plainLine(author?.login ?? 'unknown', 100);
  return [
    `${url}: ${plainLine(title, 250)}`,
    `State: ${state}. Merge: ${mergeable}.`,
    ...checks.slice(0, 50).map((check) => `Check ${plainLine(check.name, 200)}: ${check.state}`),
    ...reviews.slice(-20).map((review) => {
      const body = plainLines(shorten(review.body, maxComment));
      return `Review by ${login(review.author)}: ${review.state}${body === '' ? '' : `\n${body}`}`;
    }),
  ].join('\n');
}

async function logOf(pullRequests: PullRequests, path: string, check: Check): Promise<string> {
  const tail = await pullRequests.checkLogTail(path, check.id).catch(() => null);
  const end = tail === null ? 'The log cannot be read.' : plainLines(tail.text.slice(-maxLog));
  return `End of the log of ${plainLine(check.name, 200)}:\n${end}`;
}

function commentText({ id, author, body, location }: PullRequestComment): string {
  const line = location?.line == null ? '' : `:${location.line}`;
  const where = location ? ` on ${plainLine(location.path, 500)}${line}` : '';
  const by = plainLine(author?.login ?? 'unknown', 100);
  return `Comment ${id} by ${by}${where}:\n${plainLines(shorten(body, maxComment))}`;
}
