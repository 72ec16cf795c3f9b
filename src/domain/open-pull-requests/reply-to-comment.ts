import { z } from 'zod';
import { refuse } from '../../common/errors.ts';
import { plainLine } from '../../common/plain-text.ts';
import { isForgeError } from '../../forges/interface/errors.ts';
import type { PullRequestComment, PullRequests } from '../../forges/interface/pull-requests.ts';
import { audit } from '../audit/record-audit.ts';
import type { Context } from '../context.ts';
import { parseInput, text } from '../input.ts';
import { lockSession } from '../sessions/change-session.ts';
import { asDomainError } from './failures.ts';
import { noticeSession } from './notices.ts';
import { findOwn, type PullRequestSession } from './target.ts';
import { agentReplyMark, inertBodyWith, requesterOf } from './texts.ts';
import { ownPullRequestSchema } from './update-pull-request.ts';

const replySchema = ownPullRequestSchema.extend({
  comment: text('comment', { min: 1, max: 100 }),
  body: text('body', { min: 1, max: 60_000, isBlankRefused: true }),
  resolve: z.boolean({ error: '"resolve" must be true or false.' }).nullish(),
});

/** A reply to a comment on a pull request of a session. */
export type ReplyInput = z.input<typeof replySchema>;

/**
 * Replies to a comment on a pull request of a session's branch: in its thread, or in the conversation if it has none. The reply begins
 * with a line that says that an agent wrote it. Then it resolves the thread if `resolve` is true: `problem` says why that failed. Throws
 * INVALID_INPUT, UNKNOWN_REFERENCE, and INVALID_STATE with the forge's reason, if there is no reply.
 */
export async function replyForSession(
  context: Context,
  session: PullRequestSession,
  input: ReplyInput,
): Promise<{ readonly url: string; readonly problem: string | null }> {
  const { repository, number, comment, body, resolve } = parseInput(replySchema, input);
  return asDomainError(async () => {
    const where = { repository: repository ?? null, number: number ?? null };
    const { pullRequest, pullRequests, path } = await findOwn(context, session, where);
    const { url, number: ownNumber } = pullRequest;
    // Only comments of this pull request are found, whatever the forge does with ids of others.
    const { comments } = await pullRequests.comments(path, ownNumber);
    const found = chooseComment(comments, comment);
    if (!found) throw refuse(['comment'], `"comment" must be the id of a comment on ${url}.`, 'UNKNOWN_REFERENCE');
    const { id: sessionId, organizationId } = session;
    const data = { repository: path, number: ownNumber, comment: found.id };
    await context.store.transact((tx) =>
      audit(context, tx, 'reply_to_pull_request', { organizationId, sessionId, targetId: sessionId, data }),
    );
    const requester = requesterOf(context, session);
    const marked = await inertBodyWith(body, `${agentReplyMark} ${requester}`, { organizationId, own: null });
    await (found.threadId === null
      ? pullRequests.comment(path, ownNumber, marked)
      : pullRequests.reply(path, ownNumber, found.threadId, marked));
    await context.store.transact(async (tx) => {
      const record = await lockSession(tx, sessionId, null);
      await noticeSession(context, tx, record, `The agent replied to a comment on the pull request ${url}.`);
    });
    const problem = resolve ? await resolveThread(pullRequests, { path, number: ownNumber, comment: found }) : null;
    return { url, problem };
  });
}

// Comments on lines and comments of the conversation are numbered separately at some forges.
const chooseComment = (comments: readonly PullRequestComment[], id: string) =>
  comments.find((each) => each.id === id && each.threadId !== null) ?? comments.find((each) => each.id === id);

interface AnsweredComment {
  readonly path: string;
  readonly number: number;
  readonly comment: PullRequestComment;
}

/** Resolves the thread of a comment. Returns the reason of a failure: the reply is there, and must not be written again. */
async function resolveThread(
  pullRequests: PullRequests,
  { path, number, comment: { threadId } }: AnsweredComment,
): Promise<string | null> {
  if (threadId === null) return 'A comment of the conversation has no thread to resolve.';
  try {
    await pullRequests.resolveThread(path, number, threadId);
    return null;
  } catch (error) {
    if (!isForgeError(error)) throw error;
    return plainLine(error.message, 1_000);
  }
}
