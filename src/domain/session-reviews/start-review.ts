import { z } from 'zod';
import { permissionFor } from '../../auth/permissions.ts';
import { ownerOf } from '../../auth/viewer.ts';
import { DomainError, notFound } from '../../common/errors.ts';
import { plainMarkdown, shorten } from '../../common/plain-text.ts';
import type { PullRequest } from '../../forges/interface/pull-requests.ts';
import type { Transaction } from '../../store/store.ts';
import type { Context } from '../context.ts';
import { followPullRequest } from '../followed-pull-requests/follow.ts';
import { type CreateOptions, findEarlierResult, findReplay } from '../idempotency.ts';
import { chooseOrganization, type OrganizationRecord } from '../identity/organizations/use-organization.ts';
import { newId } from '../ids.ts';
import { parseInput, text } from '../input.ts';
import { applyAnswer } from '../pull-requests/apply-answer.ts';
import type { UsableRepository } from '../repositories/resolve-repositories.ts';
import { maxAcuLimitSchema } from '../sessions/acu-limit.ts';
import { lockSession } from '../sessions/change-session.ts';
import { sessionSchema, writeSession } from '../sessions/create-session.ts';
import { readOwnSession } from '../sessions/find-session.ts';
import type { SessionOrigin, SessionRecord } from '../sessions/session.ts';
import { findNamed, readNamed } from './reviewed-pull-request.ts';
import { type ReviewedPullRequest, readReview, type SessionReview } from './reviews.ts';

/** Maximum length of the text of a pull request that the agent gets, in characters. */
const maxBody = 20_000;

/** The values of {@link ReviewInput}. */
export const reviewSchema = z.object({
  pullRequestUrl: text('pullRequestUrl', { min: 1, max: 2_000 }),
  instructions: text('instructions', { max: 100_000 }).nullish(),
  agent: z.string().nullish(),
  maxAcuLimit: maxAcuLimitSchema,
});

/** A pull request to review; null and omitted mean the same. `instructions`: what the reviewer should look at. */
export type ReviewInput = z.input<typeof reviewSchema>;

/** Properties of the call that are not part of the input. */
export interface ReviewOptions extends CreateOptions {
  /** In any form; if omitted: the organization that the viewer's key is bound to. */
  readonly organizationId?: string | null | undefined;
  readonly origin: SessionOrigin;
}

/** A review that was started, with its session. */
export interface StartedReview {
  readonly session: SessionRecord;
  readonly review: SessionReview;
}

/**
 * Starts a session that reads a pull request and posts a review of it. The session gets no secrets of the organization, since the pull
 * request may be of a stranger, and can push nothing. Throws INVALID_INPUT, UNKNOWN_REFERENCE for a repository that the organization may
 * not use and for a pull request that the forge does not have, INVALID_STATE, and the errors of {@link createSession}.
 */
export async function reviewPullRequest(
  context: Context,
  raw: ReviewInput,
  { organizationId, origin, ...options }: ReviewOptions,
): Promise<StartedReview> {
  const organization = await chooseOrganization(context, organizationId, permissionFor.createSession);
  const input = parseInput(reviewSchema, raw);
  const call = { scope: organization.id, operation: 'reviewPullRequest', input: raw };
  // A repeated call does not ask the forge.
  const earlier = await findEarlierResult(context, options, call);
  if (earlier !== null) return readStarted(context, earlier);
  const named = await findNamed(context, organization.id, input.pullRequestUrl);
  const { usable } = named;
  if (usable.isReadOnly) {
    const message = `The organization may only read ${usable.path}: no review of its pull requests can be posted.`;
    throw new DomainError('INVALID_STATE', message);
  }
  const pullRequest = await readNamed(named);
  const id = newId();
  const sessionId = await context.store.transact(async (tx) => {
    const replay = await findReplay(context, tx, options, { ...call, resultId: id });
    if (replay !== null) return replay;
    const { state, url, number, headCommit } = pullRequest;
    if (state === 'merged' || state === 'closed')
      throw new DomainError('INVALID_STATE', `The pull request ${url} is ${state}.`);
    if (headCommit === null) throw new DomainError('INVALID_STATE', `The pull request ${url} has no commit.`);
    const instructions = input.instructions?.trim() ?? '';
    const session = parseInput(sessionSchema, {
      title: `Review of ${usable.path}#${number}`,
      prompt: `Review the pull request ${url}.${instructions === '' ? '' : `\n\n${instructions}`}`,
      ...{ agent: input.agent, maxAcuLimit: input.maxAcuLimit, secretIds: [] },
      repositories: [{ repository: usable.repositoryId, pullRequest: number }],
    });
    const owner = ownerOf(context.viewer);
    await writeSession(context, tx, organization, {
      ...{ id, input: session, owner, origin, automationId: null, tokensIn: null },
    });
    await writeReview(context, tx, { id, organization, usable, pullRequest, headCommit });
    return id;
  });
  return readStarted(context, sessionId);
}

async function readStarted(context: Context, sessionId: string): Promise<StartedReview> {
  const [session, review] = await Promise.all([
    readOwnSession(context, sessionId),
    readReview(context.store, sessionId),
  ]);
  if (!review) throw notFound('review');
  return { session, review };
}

interface NewReview {
  readonly id: string;
  readonly usable: UsableRepository;
  readonly pullRequest: PullRequest;
  readonly organization: OrganizationRecord;
  readonly headCommit: string;
}

async function writeReview(
  context: Context,
  tx: Transaction,
  { id: sessionId, organization, usable, pullRequest, headCommit }: NewReview,
): Promise<void> {
  const { repositoryId, connectionId: gitConnectionId, path } = usable;
  const { url, number, title, body, author, headBranch, baseBranch } = pullRequest;
  const login = author?.login ?? null;
  const described: ReviewedPullRequest = {
    ...{ title, body: shorten(plainMarkdown(body), maxBody), author: login, headBranch, baseBranch },
  };
  await tx.query('update session_repository set is_read_only = true where session_id = $1', [sessionId]);
  await tx.query(
    `insert into session_review (session_id, organization_id, repository_id, number, url, head_commit, pull_request, created_at)
     values ($1, $2, $3, $4, $5, $6, $7::jsonb, $8::timestamptz)`,
    [sessionId, organization.id, repositoryId, number, url, headCommit, JSON.stringify(described), context.now()],
  );
  const session = await lockSession(tx, sessionId, null);
  await applyAnswer(context, tx, session, { url, repositoryId, answer: pullRequest, generation: null });
  await followPullRequest(context, tx, { sessionId, repositoryId, gitConnectionId, path, number, url });
}
