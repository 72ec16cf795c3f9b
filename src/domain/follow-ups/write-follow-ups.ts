import type { PullRequestComment } from '../../forges/interface/pull-requests.ts';
import type { Transaction } from '../../store/store.ts';
import { insertStatement } from '../../store/tables.ts';
import type { Context } from '../context.ts';
import { newId } from '../ids.ts';
import type { SessionRecord } from '../sessions/session.ts';
import { lockRunAndSession } from '../sessions/suspend-session.ts';
import { notifyPullRequests } from '../sessions/write-pull-request.ts';
import { commentKey, type ReviewWithComments } from './derive.ts';
import type { FoundFollowUp } from './follow-up.ts';
import { type MentionedTexts, type ReadPullRequest, readMentionedTexts } from './mentioned-texts.ts';
import { settle, write } from './settle.ts';
import {
  commentsIntroduction,
  commentsText,
  limitMessage,
  reviewMessage,
  reviewSummary,
  type Subject,
} from './texts.ts';

/** Time without another comment after which loose comments are sent, and the maximum time that they wait. */
const quietMs = 30_000;
const maxWaitMs = 5 * 60_000;

/** The follow-ups that a read of a pull request found for a session. */
export interface FoundForSession {
  readonly sessionId: string;
  readonly subject: Subject;
  readonly pullRequest: ReadPullRequest;
  /** All but the reviews. */
  readonly found: readonly FoundFollowUp[];
  /** Reviews that count. */
  readonly reviews: readonly ReviewWithComments[];
  /** Comments of no review that count. */
  readonly loose: readonly PullRequestComment[];
  /** True: all of it was there before the session had the pull request, and is only recorded. */
  readonly isOld: boolean;
  /** Masks the secrets of the session. */
  readonly mask: (text: string) => string;
}

/**
 * Writes the follow-ups that are new, each once, with their messages or notices, in one transaction. Texts that a session got as
 * a mention are only recorded. Returns false if a text was left out because it is not known yet if it is a mention.
 */
export async function writeFollowUps(context: Context, forSession: FoundForSession): Promise<boolean> {
  const { sessionId, subject, pullRequest, found, reviews, loose, isOld, mask } = forSession;
  const { url } = subject;
  return context.store.transact(async (tx) => {
    const session = await lockRunAndSession(tx, sessionId);
    const known = await knownComments(tx, session, url);
    const keys = [...reviews.flatMap(keysOf), ...loose.map(commentKey)];
    const mentioned = await readMentionedTexts(tx, pullRequest, keys);
    const isDecided = (key: string) => !mentioned.undecided.has(key);
    const decided = reviews.filter((each) => keysOf(each).every(isDecided));
    let isChanged = false;
    for (const each of [...found, ...decided.map((review) => ofReview(subject, review, mentioned))]) {
      const { key, kind, summary, body, commentIds } = each;
      const text = { summary: mask(summary), body: mask(body) };
      const id = await insert(context, tx, session, { url, key, kind, ...text, commentIds, dueAt: null });
      if (id === null) continue;
      isChanged = true;
      for (const comment of commentIds) known.add(comment);
      if (isOld || isHandled(each)) await write(context, tx, id, 'skipped');
      else await settle(context, tx, session, { id, url, key, kind, ...text });
    }
    const rest = loose.map((comment) => ({ comment, key: commentKey(comment) })).filter(({ key }) => !known.has(key));
    const select = (isWanted: (key: string) => boolean) =>
      rest.filter(({ key }) => isWanted(key)).map(({ comment }) => comment);
    const handled = select((key) => mentioned.handled.has(key));
    await recordHandled(context, tx, session, { subject, mask, comments: handled });
    const comments = select((key) => isDecided(key) && !mentioned.handled.has(key));
    if (comments.length > 0) await writeLoose(context, tx, session, { subject, mask, comments });
    if (isChanged || handled.length + comments.length > 0) await notifyPullRequests(context, tx, session);
    return decided.length === reviews.length && rest.every(({ key }) => isDecided(key));
  });
}

const keysOf = ({ key, comments }: ReviewWithComments): string[] => [key, ...comments.map(commentKey)];

interface FoundReview extends FoundFollowUp {
  /** Mentions brought all of it. */
  readonly isHandled: boolean;
}

const isHandled = (found: FoundFollowUp | FoundReview): boolean => 'isHandled' in found && found.isHandled;

/** The follow-up of a review, without the texts that mentions brought; with them, if nothing else is left. */
function ofReview(subject: Subject, of: ReviewWithComments, { handled }: MentionedTexts): FoundReview {
  const rest = of.comments.filter((comment) => !handled.has(commentKey(comment)));
  const review = handled.has(of.key) ? { ...of.review, body: '' } : of.review;
  const isAll = rest.length === 0 && review.body.trim() === '' && keysOf(of).some((key) => handled.has(key));
  const shown = isAll ? of : { review, comments: rest };
  return {
    ...{ key: of.key, kind: 'review', commentIds: of.comments.map(commentKey), isHandled: isAll },
    summary: reviewSummary(shown.review, shown.comments.length),
    body: reviewMessage(subject, shown.review, shown.comments),
  };
}

/** Records comments that sessions got as mentions: the mentions are deleted before the pull request ends, perhaps. */
async function recordHandled(
  context: Context,
  tx: Transaction,
  session: SessionRecord,
  loose: LooseComments,
): Promise<void> {
  if (loose.comments.length === 0) return;
  const id = await insert(context, tx, session, { ...ofLoose(loose), dueAt: null });
  if (id !== null) await write(context, tx, id, 'skipped');
}

interface LooseComments {
  readonly subject: Subject;
  readonly comments: readonly PullRequestComment[];
  readonly mask: (text: string) => string;
}

/** Adds comments to the follow-up that waits for more of them, or begins one. */
async function writeLoose(
  context: Context,
  tx: Transaction,
  session: SessionRecord,
  { subject, comments, mask }: LooseComments,
): Promise<void> {
  const now = context.now();
  const commentIds = comments.map(commentKey);
  const dueAt = new Date(now.getTime() + quietMs);
  tx.afterCommit(() => context.notifier.notify('follow-ups'));
  const [open] = await tx.query<{ id: string; body: string; count: number }>(
    `update follow_up f set comment_ids = f.comment_ids || $3::text[],
            due_at = least($4::timestamptz, f.created_at + $5::int * interval '1 ms')
      where f.session_id = $1 and f.url = $2 and f.kind = 'comments' and f.state = 'pending'
     returning f.id, f.body, cardinality(f.comment_ids) as count`,
    [session.id, subject.url, commentIds, dueAt, maxWaitMs],
  );
  if (open) {
    const body = limitMessage(`${open.body}\n\n${mask(commentsText(comments))}`);
    await tx.query('update follow_up set body = $2, summary = $3 where id = $1', [
      open.id,
      body,
      countText(open.count),
    ]);
    return;
  }
  await insert(context, tx, session, { ...ofLoose({ subject, comments, mask }), dueAt });
}

function ofLoose({ subject, comments, mask }: LooseComments): Omit<NewRow, 'dueAt'> {
  const commentIds = comments.map(commentKey);
  const body = limitMessage(`${commentsIntroduction(subject)}\n\n${mask(commentsText(comments))}`);
  return {
    ...{ url: subject.url, key: `comments:${commentIds[0]}`, kind: 'comments', commentIds },
    ...{ summary: countText(comments.length), body },
  };
}

const countText = (count: number) => (count === 1 ? '1 new comment' : `${count} new comments`);

interface NewRow extends FoundFollowUp {
  readonly url: string;
  readonly dueAt: Date | null;
}

/** Inserts a follow-up; null: the session has it already. */
async function insert(
  { now }: Context,
  tx: Transaction,
  { id: sessionId }: SessionRecord,
  { dueAt, commentIds, ...row }: NewRow,
): Promise<string | null> {
  const { text, values } = insertStatement('FollowUp', {
    ...{ id: newId(), sessionId, state: 'pending', chain: null, createdAt: now(), settledAt: null, dueAt },
    ...{ ...row, commentIds: [...commentIds] },
  });
  const [inserted] = await tx.query<{ id: string }>(`${text} on conflict do nothing returning id`, values);
  return inserted?.id ?? null;
}

/** The comments that the newest follow-ups of a pull request have. */
async function knownComments(tx: Transaction, { id }: SessionRecord, url: string): Promise<Set<string>> {
  const rows = await tx.query<{ ids: string[] }>(
    `select f.comment_ids as ids from follow_up f
      where f.session_id = $1 and f.url = $2 and cardinality(f.comment_ids) > 0 order by f.created_at desc limit 1000`,
    [id, url],
  );
  return new Set(rows.flatMap(({ ids }) => ids));
}
