import { z } from 'zod';
import { permissionFor } from '../../auth/permissions.ts';
import { type DomainError, refuse } from '../../common/errors.ts';
import { type ForgeError, isForgeError } from '../../forges/interface/errors.ts';
import type { CreatedPullRequest, NewPullRequest } from '../../forges/interface/pull-requests.ts';
import { audit } from '../audit/record-audit.ts';
import type { Context } from '../context.ts';
import { followPullRequest } from '../followed-pull-requests/follow.ts';
import { parseInput, text } from '../input.ts';
import { applyAnswer } from '../pull-requests/apply-answer.ts';
import { lockSession } from '../sessions/change-session.ts';
import { getSessionFor, type SessionTarget } from '../sessions/find-session.ts';
import type { SessionRecord } from '../sessions/session.ts';
import { forgeFailure, isTemporary } from './failures.ts';
import { deleteIntent, postponeIntent, writeIntent } from './intents.ts';
import { noticeWarnings } from './notices.ts';
import { findTarget, type PullRequestSession, refuseReadOnly, type Target } from './target.ts';
import { bodyWith, inertBodyWith, names, ownOf, plainNames, requesterOf, titleOf } from './texts.ts';

/** The values of {@link PullRequestInput}. */
export const pullRequestSchema = z.object({
  repository: text('repository', { min: 1, max: 1_000 }).nullish(),
  title: text('title', { min: 1, max: 250, isBlankRefused: true }),
  body: text('body', { max: 60_000 }).nullish(),
  base: text('base', { min: 1, max: 255 }).nullish(),
  isDraft: z.boolean({ error: '"isDraft" must be true or false.' }).nullish(),
  labels: names('labels'),
  reviewers: names('reviewers'),
});

/** A pull request to open for a session. */
export type PullRequestInput = z.input<typeof pullRequestSchema>;

/** A pull request that was opened, or that was open already. */
export interface OpenedPullRequest {
  readonly url: string;
  readonly number: number;
  readonly isNew: boolean;
  /** Sentences about parts that the forge refused. */
  readonly warnings: readonly string[];
}

/**
 * Opens a pull request of a session's branch for a viewer, or finds the open one of this branch and base. Throws FORBIDDEN, NOT_FOUND,
 * INVALID_INPUT, UNKNOWN_REFERENCE, and INVALID_STATE with the forge's reason. Needs the permissions of `sendMessage`.
 */
export async function openPullRequest(
  context: Context,
  { sessionId, ...input }: Pick<SessionTarget, 'sessionId'> & PullRequestInput,
): Promise<{ readonly session: SessionRecord; readonly opened: OpenedPullRequest }> {
  const seen = await getSessionFor(context, permissionFor.sendMessage, { sessionId });
  const opened = await openForSession(context, seen, input);
  const session = await context.store.transact((tx) => lockSession(tx, seen.id, null));
  return { session, opened };
}

/** {@link openPullRequest} without a check of the viewer: for a caller that may write to the session. */
export async function openForSession(
  context: Context,
  session: PullRequestSession,
  input: PullRequestInput,
): Promise<OpenedPullRequest> {
  const { repository, base, ...wanted } = parseInput(pullRequestSchema, input);
  let target: Target;
  let request: NewPullRequest;
  try {
    target = await findTarget(context, session, repository ?? null);
    refuseReadOnly(target);
    const baseBranch = base ?? (await defaultBase(target));
    if (baseBranch === target.branch) {
      throw refuse(['base'], `"base" must differ from the session’s branch ${JSON.stringify(target.branch)}.`);
    }
    const own = ownOf(target);
    const requester = requesterOf(context, session);
    const body =
      wanted.body == null
        ? bodyWith((await target.pullRequests.template(target.path, baseBranch)) ?? '', requester)
        : await inertBodyWith(wanted.body, requester, { organizationId: session.organizationId, own });
    request = {
      ...{ title: titleOf(wanted.title, own), body },
      ...{ headBranch: target.branch, baseBranch, isDraft: wanted.isDraft ?? false },
      ...{ labels: plainNames(wanted.labels), reviewers: plainNames(wanted.reviewers) },
    };
  } catch (error) {
    throw isForgeError(error) ? forgeFailure(error) : error;
  }
  const { id: sessionId, organizationId } = session;
  const { repositoryId, path } = target;
  const intentId = await context.store.transact(async (tx) => {
    const data = { repository: path, headBranch: request.headBranch, baseBranch: request.baseBranch };
    const id = await writeIntent(context, tx, { sessionId, repositoryId, request });
    await audit(context, tx, 'open_pull_request', { organizationId, sessionId, targetId: sessionId, data });
    return id;
  });
  try {
    return await finishIntent(context, { id: intentId, sessionId, request }, target);
  } catch (error) {
    if (!isForgeError(error)) throw error;
    if (isTemporary(error)) {
      await postponeIntent(context, intentId);
      throw forgeFailure(error, 'The forge gave no clear answer. The service tries again automatically.');
    }
    await context.store.transact((tx) => deleteIntent(tx, intentId));
    throw await refusal(context, session, request, path, error);
  }
}

/** Asks the forge for the pull request of an intent, and writes the result. Safe to repeat. Throws ForgeError. */
export async function finishIntent(
  context: Context,
  { id, sessionId, request }: { readonly id: string; readonly sessionId: string; readonly request: NewPullRequest },
  { repositoryId, gitConnectionId, path, pullRequests }: Target,
): Promise<OpenedPullRequest> {
  const { pullRequest, isNew, warnings }: CreatedPullRequest = await pullRequests.create(path, request);
  const { url, number } = pullRequest;
  await context.store.transact(async (tx) => {
    const session = await lockSession(tx, sessionId, null);
    await applyAnswer(context, tx, session, {
      ...{ url, repositoryId, answer: pullRequest, generation: null },
      isOpenedByService: true,
    });
    await followPullRequest(context, tx, { sessionId, repositoryId, gitConnectionId, path, number, url });
    await noticeWarnings(context, tx, session, { url, warnings });
    await deleteIntent(tx, id);
  });
  return { url, number, isNew, warnings };
}

async function defaultBase({ baseRef, branch, forge, path }: Target): Promise<string> {
  if (baseRef !== null && baseRef !== branch) return baseRef;
  const found = (await forge.getRepository(path)).defaultBranch;
  if (found === null) throw refuse(['base'], '"base" must be given: the repository has no default branch.');
  return found;
}

/** Says that the branch must be pushed first, if no push of it was accepted. */
async function refusal(
  { store }: Context,
  session: PullRequestSession,
  { headBranch }: NewPullRequest,
  path: string,
  error: ForgeError,
): Promise<DomainError> {
  const [push] = await store.query(
    `select 1 from log_entry e where e.session_id = $1 and e.kind = 'PUSH' and e.data->>'branch' = $2
        and e.data->>'refusal' is null limit 1`,
    [session.id, headBranch],
  );
  if (push || !isForgeError(error, 'REJECTED', 'NOT_FOUND')) return forgeFailure(error);
  return forgeFailure(error, `The branch ${JSON.stringify(headBranch)} was not pushed to ${path}. Push it first.`);
}
