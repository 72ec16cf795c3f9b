import { z } from 'zod';
import { findOwnerViewer } from '../../../auth/owner-viewer.ts';
import { permissionFor } from '../../../auth/permissions.ts';
import { DomainError } from '../../../common/errors.ts';
import type { Context } from '../../context.ts';
import { parseInput, text } from '../../input.ts';
import { openForSession } from '../../open-pull-requests/open-pull-request.ts';
import { readForSession } from '../../open-pull-requests/read-for-session.ts';
import { type ReplyInput, replyForSession } from '../../open-pull-requests/reply-to-comment.ts';
import { names } from '../../open-pull-requests/texts.ts';
import { updateForSession } from '../../open-pull-requests/update-pull-request.ts';
import { readReview } from '../../session-reviews/reviews.ts';
import type { ReviewSubmission } from '../../session-reviews/submission.ts';
import { submitForSession } from '../../session-reviews/submit-review.ts';
import type { ClaimedRun } from '../runs/claims.ts';
import type { Mask } from '../runs/masking.ts';

interface PullRequestContext {
  readonly context: Context;
  readonly run: ClaimedRun;
  readonly plan: { readonly organizationId: string };
  readonly mask: Mask;
}

const opening = z.object({
  title: text('title', { min: 1, max: 250, isBlankRefused: true }),
  body: text('body', { max: 60_000 }).nullish(),
  draft: z.boolean({ error: '"draft" must be true or false.' }).nullish(),
  repository: text('repository', { min: 1, max: 1_000 }).nullish(),
  base: text('base', { min: 1, max: 255 }).nullish(),
  labels: names('labels'),
  reviewers: names('reviewers'),
});
const reading = z.object({ repository: text('repository', { min: 1, max: 1_000 }).nullish() });

/** Opens a pull request for the agent of a session, in the name and with the current permissions of the session's owner. */
export async function openTool(
  { context, run, plan, mask }: PullRequestContext,
  args: Readonly<Record<string, unknown>>,
): Promise<string> {
  const { draft, ...input } = parseInput(opening, args);
  const asOwner = await ownerOf(context, run, plan.organizationId);
  const { url, isNew, warnings } = await openForSession(
    asOwner,
    { id: run.sessionId, organizationId: plan.organizationId },
    { ...(masked(input, mask) as typeof input), isDraft: draft ?? false },
  );
  return [isNew ? `The pull request is open: ${url}` : `It was open already: ${url}`, ...warnings].join('\n');
}

/** Reads the open pull request of the session's branch, or the one that the session reviews, for its agent. */
export async function readTool(
  { context, run, plan, mask }: PullRequestContext,
  args: Readonly<Record<string, unknown>>,
): Promise<string> {
  const { repository } = parseInput(reading, args);
  const session = { id: run.sessionId, organizationId: plan.organizationId };
  const review = await readReview(context.store, run.sessionId);
  return mask(await readForSession(context, session, repository ?? null, review?.number ?? null));
}

/** Changes a pull request of the session's branch for its agent. */
export async function updateTool(
  { context, run, plan, mask }: PullRequestContext,
  args: Readonly<Record<string, unknown>>,
): Promise<string> {
  const { draft, ...input } = masked(args, mask);
  const asOwner = await ownerOf(context, run, plan.organizationId);
  const session = { id: run.sessionId, organizationId: plan.organizationId };
  const { url, changed, warnings } = await updateForSession(asOwner, session, { ...input, isDraft: draft } as object);
  return [`The pull request ${url} is changed: ${changed.join(', ')}.`, ...warnings].join('\n');
}

/** Replies to a comment on a pull request of the session's branch for its agent. */
export async function replyTool(
  { context, run, plan, mask }: PullRequestContext,
  args: Readonly<Record<string, unknown>>,
): Promise<string> {
  const asOwner = await ownerOf(context, run, plan.organizationId);
  const session = { id: run.sessionId, organizationId: plan.organizationId };
  const { url, problem } = await replyForSession(asOwner, session, masked(args, mask) as unknown as ReplyInput);
  return `The reply is on ${url}.${problem === null ? '' : ` The thread is not resolved: ${problem}`}`;
}

/** Posts the review of the session's pull request for its agent. */
export async function reviewTool(
  { context, run, plan, mask }: PullRequestContext,
  args: Readonly<Record<string, unknown>>,
): Promise<string> {
  const asOwner = await ownerOf(context, run, plan.organizationId);
  const session = { id: run.sessionId, organizationId: plan.organizationId };
  const { url, isNew, movedCount } = await submitForSession(
    asOwner,
    session,
    masked(args, mask) as unknown as ReviewSubmission,
  );
  if (!isNew) return `Your review was posted before, and a session posts one: ${url}`;
  const moved = `${movedCount === 1 ? 'One comment is' : `${movedCount} comments are`} in its body instead of on a line.`;
  return `Your review is posted: ${url}${movedCount === 0 ? '' : `\n${moved}`}`;
}

/** Masks the texts of arguments, and those in their lists and objects. */
function masked(args: Readonly<Record<string, unknown>>, mask: Mask): Record<string, unknown> {
  const each = (value: unknown): unknown => {
    if (typeof value === 'string') return mask(value);
    if (Array.isArray(value)) return value.map(each);
    return value !== null && typeof value === 'object' ? masked({ ...value }, mask) : value;
  };
  return Object.fromEntries(Object.entries(args).map(([name, value]) => [name, each(value)]));
}

async function ownerOf(context: Context, run: ClaimedRun, organizationId: string): Promise<Context> {
  const [owner] = await context.store.query<{ userId: string | null; serviceUserId: string | null }>(
    `select s.user_id as "userId", s.service_user_id as "serviceUserId" from session s
       join session_head h on h.session_id = s.id where s.id = $1 and h.generation = $2`,
    [run.sessionId, run.generation],
  );
  const gone = new DomainError(
    'FORBIDDEN',
    'The user or service user that started this session was deleted or deactivated.',
  );
  if (!owner) throw gone;
  const viewer = await findOwnerViewer(context, { ...owner, organizationId }, [permissionFor.sendMessage]);
  if (!viewer) throw gone;
  return Object.create(context, {
    viewer: { value: viewer, enumerable: true },
    address: { value: null, enumerable: true },
  });
}
