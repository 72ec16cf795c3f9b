import { z } from 'zod';
import { permissionFor } from '../../auth/permissions.ts';
import { viewerName } from '../../auth/viewer.ts';
import { DomainError, notFound, refuse } from '../../common/errors.ts';
import { plainLine } from '../../common/plain-text.ts';
import type { Transaction } from '../../store/store.ts';
import { audit } from '../audit/record-audit.ts';
import type { Context } from '../context.ts';
import { wantPullRequest } from '../followed-pull-requests/want-reads.ts';
import { parseId } from '../ids.ts';
import { parseInput, text } from '../input.ts';
import { noticeSession } from '../open-pull-requests/notices.ts';
import { type FollowUpMode, followUpModes } from '../repositories/follow-up-settings.ts';
import { getSessionFor, type SessionTarget } from '../sessions/find-session.ts';
import type { SessionRecord } from '../sessions/session.ts';
import { lockRunAndSession } from '../sessions/suspend-session.ts';
import { requireTaking } from '../sessions/write-message.ts';
import { notifyPullRequests } from '../sessions/write-pull-request.ts';
import { type FollowUp, followUpColumns, type PullRequestFacts, type UnsettledFollowUp } from './follow-up.ts';
import { readFacts, send, write } from './settle.ts';

/** The values of {@link setPullRequestFollowUp}. */
export const followUpSettingSchema = z.object({
  url: text('url', { min: 1, max: 2_000 }),
  mode: z.enum(followUpModes, `"mode" must be one of ${followUpModes.join(', ')}.`).nullish(),
});

/**
 * Sets how follow-ups of a pull request reach its session; null: as its repository says. Follow-ups that a limit stopped
 * continue. Throws FORBIDDEN, NOT_FOUND, INVALID_INPUT, and UNKNOWN_REFERENCE for another pull request. Needs the
 * permissions of `sendMessage`.
 */
export async function setPullRequestFollowUp(
  context: Context,
  { sessionId, ...input }: Pick<SessionTarget, 'sessionId'> & z.input<typeof followUpSettingSchema>,
): Promise<SessionRecord> {
  const seen = await getSessionFor(context, permissionFor.sendMessage, { sessionId });
  const { url, mode } = parseInput(followUpSettingSchema, input);
  return context.store.transact(async (tx) => {
    const session = await lockRunAndSession(tx, seen.id);
    const before = await readFacts(tx, session.id, url);
    if (before === null) {
      throw refuse(['url'], '"url" must be the address of a pull request of the session.', 'UNKNOWN_REFERENCE');
    }
    await tx.query(
      `update pull_request set follow_up_mode = $3, follow_up_stop = null, follow_up_resumed_at = $4::timestamptz,
              follow_ups_since = case when $5::boolean then null else follow_ups_since end
        where session_id = $1 and url = $2`,
      [session.id, url, mode ?? null, context.now(), before.mode === 'off'],
    );
    await resumeCapped(context, tx, session, url);
    await wantPullRequest(context, tx, session.id, url);
    const { id, organizationId } = session;
    const data = { url, mode: mode ?? null };
    await audit(context, tx, 'set_pull_request_follow_up', { organizationId, sessionId: id, targetId: id, data });
    const sentence = changeSentence(context, url, { before: before.own, after: mode ?? null, stop: before.stop });
    if (sentence !== null) await noticeSession(context, tx, session, sentence);
    await notifyPullRequests(context, tx, session);
    return session;
  });
}

/** Says who changed the follow-ups of a pull request, and to what; null: nothing is different. */
function changeSentence(
  context: Context,
  url: string,
  { before, after, stop }: Record<'before' | 'after', FollowUpMode | null> & Pick<PullRequestFacts, 'stop'>,
): string | null {
  if (before === after) return stop === null ? null : `${personOf(context)} let the follow-ups of ${url} continue.`;
  const to = after === null ? 'as its repository says' : modeNames[after];
  return `${personOf(context)} changed the follow-ups of ${url}: ${to}.`;
}

const modeNames: Readonly<Record<FollowUpMode, string>> = { off: 'off', suggest: 'suggest', auto: 'automatic' };

const personOf = ({ viewer }: Context): string => plainLine(viewerName(viewer), 100);

/** Settles again what a limit stopped, except for checks of earlier commits. */
async function resumeCapped({ now, notifier }: Context, tx: Transaction, { id }: SessionRecord, url: string) {
  await tx.query(
    `update follow_up f set state = 'pending', due_at = $3::timestamptz, settled_at = null
       from pull_request p where p.session_id = f.session_id and p.url = f.url and f.session_id = $1 and f.url = $2
        and f.state = 'capped' and (f.kind not in ('checks', 'conflict') or split_part(f.key, ':', 2) = p.head_commit)`,
    [id, url, now()],
  );
  tx.afterCommit(() => notifier.notify('follow-ups'));
}

/** A follow-up by its id in any form. */
export interface FollowUpTarget {
  readonly followUpId: string;
}

/** A follow-up after a change, and its session. */
export interface ChangedFollowUp {
  readonly session: SessionRecord;
  readonly followUp: FollowUp;
}

/**
 * Sends a follow-up to its session for a person, beyond all limits, as a message of the service. Throws FORBIDDEN,
 * NOT_FOUND, and INVALID_STATE for one that was sent and for a session that takes no messages. Needs the permissions of
 * `sendMessage`.
 */
export function sendFollowUp(context: Context, target: FollowUpTarget): Promise<ChangedFollowUp> {
  return change(context, target, async (tx, session, followUp) => {
    if (followUp.state === 'sent') throw new DomainError('INVALID_STATE', 'The follow-up was sent already.');
    requireTaking(session);
    await noticeSession(context, tx, session, `${personOf(context)} sent a follow-up of ${about(followUp)}.`);
    await send(context, tx, session, followUp, null);
    return 'send_follow_up';
  });
}

/**
 * Dismisses a follow-up that was not sent. One that is dismissed does not change. Throws FORBIDDEN, NOT_FOUND, and
 * INVALID_STATE for one that was sent. Needs the permissions of `sendMessage`.
 */
export function dismissFollowUp(context: Context, target: FollowUpTarget): Promise<ChangedFollowUp> {
  return change(context, target, async (tx, session, followUp) => {
    if (followUp.state === 'dismissed') return null;
    if (followUp.state === 'sent') throw new DomainError('INVALID_STATE', 'The follow-up was sent already.');
    await write(context, tx, followUp.id, 'dismissed');
    await noticeSession(context, tx, session, `${personOf(context)} dismissed a follow-up of ${about(followUp)}.`);
    return 'dismiss_follow_up';
  });
}

const about = ({ url, summary }: Pick<FollowUp, 'url' | 'summary'>): string => `${url}: ${summary}`;

type Act = (
  tx: Transaction,
  session: SessionRecord,
  followUp: FollowUp & UnsettledFollowUp,
) => Promise<'send_follow_up' | 'dismiss_follow_up' | null>;

async function change(context: Context, { followUpId }: FollowUpTarget, act: Act): Promise<ChangedFollowUp> {
  const id = parseId('followUp', followUpId);
  const [row] = await context.store.query<{ sessionId: string }>(
    'select f.session_id as "sessionId" from follow_up f where f.id = $1',
    [id ?? ''],
  );
  // The permission comes first: without it, no id exists.
  const seen = await getSessionFor(context, permissionFor.sendMessage, { sessionId: row?.sessionId ?? '' }).catch(
    (error: unknown) => {
      throw error instanceof DomainError && error.code === 'NOT_FOUND' ? notFound('follow-up') : error;
    },
  );
  return context.store.transact(async (tx) => {
    const session = await lockRunAndSession(tx, seen.id);
    const read = () =>
      tx.query<FollowUp & UnsettledFollowUp>(`select ${followUpColumns}, f.body from follow_up f where f.id = $1`, [
        id,
      ]);
    const [before] = await read();
    if (!before) throw notFound('follow-up');
    const action = await act(tx, session, before);
    if (action === null) return { session, followUp: before };
    const data = { url: before.url, followUp: before.key };
    const { organizationId } = session;
    await audit(context, tx, action, { organizationId, sessionId: seen.id, targetId: seen.id, data });
    await notifyPullRequests(context, tx, session);
    const [after] = await read();
    return { session: await lockRunAndSession(tx, seen.id), followUp: after ?? before };
  });
}
