import type { PullRequestComment } from '../../forges/interface/pull-requests.ts';
import type { Transaction } from '../../store/store.ts';
import { insertStatement } from '../../store/tables.ts';
import type { Context } from '../context.ts';
import { newId } from '../ids.ts';
import type { SessionRecord } from '../sessions/session.ts';
import { lockRunAndSession } from '../sessions/suspend-session.ts';
import { commentKey } from './derive.ts';
import type { FoundFollowUp } from './follow-up.ts';
import { settle, write } from './settle.ts';
import { commentsIntroduction, commentsText, limitMessage, type Subject } from './texts.ts';

/** Time without another comment after which loose comments are sent, and the maximum time that they wait. */
const quietMs = 30_000;
const maxWaitMs = 5 * 60_000;

/** The follow-ups that a read of a pull request found for a session. */
export interface FoundForSession {
  readonly sessionId: string;
  readonly subject: Subject;
  readonly found: readonly FoundFollowUp[];
  /** Comments of no review that count. */
  readonly loose: readonly PullRequestComment[];
  /** True: all of it was there before the session had the pull request, and is only recorded. */
  readonly isOld: boolean;
  /** Masks the secrets of the session. */
  readonly mask: (text: string) => string;
}

/** Writes the follow-ups that are new, each once, with their messages or notices, in one transaction. */
export async function writeFollowUps(context: Context, forSession: FoundForSession): Promise<void> {
  const { sessionId, subject, found, loose, isOld, mask } = forSession;
  const { url } = subject;
  await context.store.transact(async (tx) => {
    const session = await lockRunAndSession(tx, sessionId);
    const known = await knownComments(tx, session, url);
    for (const { key, kind, summary, body, commentIds } of found) {
      const text = { summary: mask(summary), body: mask(body) };
      const id = await insert(context, tx, session, { url, key, kind, ...text, commentIds, dueAt: null });
      if (id === null) continue;
      for (const each of commentIds) known.add(each);
      if (isOld) await write(context, tx, id, 'skipped');
      else await settle(context, tx, session, { id, url, key, kind, ...text });
    }
    const rest = loose.filter((comment) => !known.has(commentKey(comment)));
    if (rest.length > 0) await writeLoose(context, tx, session, { subject, mask, comments: rest });
  });
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
  const text = mask(commentsText(comments));
  if (open) {
    const body = limitMessage(`${open.body}\n\n${text}`);
    await tx.query('update follow_up set body = $2, summary = $3 where id = $1', [
      open.id,
      body,
      countText(open.count),
    ]);
    return;
  }
  await insert(context, tx, session, {
    ...{ url: subject.url, key: `comments:${commentIds[0]}`, kind: 'comments', commentIds, dueAt },
    ...{ summary: countText(comments.length), body: limitMessage(`${commentsIntroduction(subject)}\n\n${text}`) },
  });
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
