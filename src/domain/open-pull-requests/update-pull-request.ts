import { z } from 'zod';
import { DomainError } from '../../common/errors.ts';
import { audit } from '../audit/record-audit.ts';
import type { Context } from '../context.ts';
import { followPullRequest } from '../followed-pull-requests/follow.ts';
import { parseInput, text } from '../input.ts';
import { applyAnswer } from '../pull-requests/apply-answer.ts';
import { lockSession } from '../sessions/change-session.ts';
import { asDomainError } from './failures.ts';
import { noticeSession, noticeWarnings } from './notices.ts';
import { findOwn, type PullRequestSession } from './target.ts';
import { inertBodyWith, names, ownOf, plainNames, requesterOf, titleOf } from './texts.ts';

/** The values that name a pull request of a session. */
export const ownPullRequestSchema = z.object({
  repository: text('repository', { min: 1, max: 1_000 }).nullish(),
  number: z.int({ error: '"number" must be an integer.' }).min(1).max(2_147_483_647).nullish(),
});

const changeSchema = ownPullRequestSchema.extend({
  title: text('title', { min: 1, max: 250, isBlankRefused: true }).nullish(),
  body: text('body', { max: 60_000 }).nullish(),
  isDraft: z.boolean({ error: '"draft" must be true or false.' }).nullish(),
  state: z.enum(['open', 'closed'], '"state" must be "open" or "closed".').nullish(),
  labels: names('labels'),
  reviewers: names('reviewers'),
});

/** Changes of a pull request of a session. Labels and reviewers are added; other values that are null or left out stay. */
export type PullRequestChangeInput = z.input<typeof changeSchema>;

/** A pull request that was changed. */
export interface ChangedPullRequest {
  readonly url: string;
  /** The names of the changed parts, in the words of a reader. */
  readonly changed: readonly string[];
  /** Sentences about labels and reviewers that the forge refused. */
  readonly warnings: readonly string[];
}

/**
 * Changes a pull request of a session's branch, for a caller that may write to the session. Throws INVALID_INPUT, UNKNOWN_REFERENCE, and
 * INVALID_STATE with the forge's reason.
 */
export async function updateForSession(
  context: Context,
  session: PullRequestSession,
  input: PullRequestChangeInput,
): Promise<ChangedPullRequest> {
  const { repository, number, title, body, isDraft, state, ...rest } = parseInput(changeSchema, input);
  const additions = { labels: plainNames(rest.labels), reviewers: plainNames(rest.reviewers) };
  const parts = [
    ...[title == null ? null : 'title', body == null ? null : 'text', isDraft == null ? null : 'draft'],
    ...[state == null ? null : 'state', additions.labels.length === 0 ? null : 'labels'],
    additions.reviewers.length === 0 ? null : 'reviewers',
  ];
  const changed = parts.filter((part) => part !== null);
  if (changed.length === 0)
    throw new DomainError('INVALID_INPUT', 'There is nothing to change. Pass at least one value.');
  return asDomainError(async () => {
    const where = { repository: repository ?? null, number: number ?? null };
    const { pullRequest, pullRequests, ...target } = await findOwn(context, session, where);
    const own = ownOf(target);
    const options = { organizationId: session.organizationId, own };
    const change = {
      title: title == null ? undefined : titleOf(title, own),
      body: body == null ? undefined : await inertBodyWith(body, requesterOf(context, session), options),
      isDraft: isDraft ?? undefined,
      isClosed: state == null ? undefined : state === 'closed',
    };
    const { id: sessionId, organizationId } = session;
    const { path, repositoryId, gitConnectionId } = target;
    const data = { repository: path, number: pullRequest.number, changed: changed.join(', ') };
    await context.store.transact((tx) =>
      audit(context, tx, 'update_pull_request', { organizationId, sessionId, targetId: sessionId, data }),
    );
    const hasChange = Object.values(change).some((value) => value !== undefined);
    const answer = hasChange ? await pullRequests.update(path, pullRequest.number, change) : pullRequest;
    const warnings = await pullRequests.extend(path, answer, additions);
    const { url } = answer;
    await context.store.transact(async (tx) => {
      const record = await lockSession(tx, sessionId, null);
      await applyAnswer(context, tx, record, { url, repositoryId, answer, generation: null });
      await followPullRequest(context, tx, {
        sessionId,
        repositoryId,
        gitConnectionId,
        path,
        number: answer.number,
        url,
      });
      await noticeSession(context, tx, record, `The agent changed the pull request ${url}: ${changed.join(', ')}.`);
      await noticeWarnings(context, tx, record, { url, warnings });
    });
    return { url, changed, warnings };
  });
}
