import type { Transaction } from '../../store/store.ts';
import type { Context } from '../context.ts';
import { noticeSession } from '../open-pull-requests/notices.ts';
import { isReviewedIn } from '../pull-requests/details.ts';
import {
  followUpModeOf,
  followUpModes,
  type PullRequestOrigin,
  readFollowUpSettings,
} from '../repositories/follow-up-settings.ts';
import type { SessionRecord } from '../sessions/session.ts';
import { writeMessage } from '../sessions/write-message.ts';
import { checkChain } from './check-chain.ts';
import {
  type FollowUpState,
  type FollowUpStop,
  maxChain,
  maxPerDay,
  type PullRequestFacts,
  type UnsettledFollowUp,
} from './follow-up.ts';

const dayMs = 24 * 60 * 60 * 1_000;

/** Reads the facts about a pull request of a session; null: the session has no such pull request, or no forge was asked. */
export async function readFacts(
  tx: Pick<Transaction, 'query'>,
  sessionId: string,
  url: string,
): Promise<PullRequestFacts | null> {
  const [row] = await tx.query<
    Omit<PullRequestFacts, 'mode' | 'own'> & PullRequestOrigin & { own: string | null; settings: unknown }
  >(
    `select p.follow_up_mode as own, p.is_opened_by_service as "isOpenedByService", ${isReviewedIn('p')} as "isReviewed", p.follow_up_stop as stop,
            p.follow_up_resumed_at as "resumedAt", p.checks_passed_at as "checksPassedAt", r.settings
       from pull_request p left join repository r on r.id = p.repository_id where p.session_id = $1 and p.url = $2`,
    [sessionId, url],
  );
  if (!row) return null;
  const { own, isOpenedByService, isReviewed, settings, ...facts } = row;
  const mode = followUpModeOf(own, readFollowUpSettings(settings), { isOpenedByService, isReviewed });
  return { ...facts, own: followUpModes.find((each) => each === own) ?? null, mode };
}

/**
 * Decides about a follow-up of a session that `lockRunAndSession` has locked, and writes the decision with its message or
 * its notice. Returns the new state.
 */
export async function settle(
  context: Context,
  tx: Transaction,
  session: SessionRecord,
  followUp: UnsettledFollowUp,
): Promise<FollowUpState> {
  const { id, url, summary } = followUp;
  const facts = await readFacts(tx, session.id, url);
  if (facts === null || facts.mode === 'off' || !takesFollowUps(session, url)) return write(context, tx, id, 'skipped');
  if (facts.mode === 'suggest' || (await hasNewerSession(tx, session, url))) {
    await noticeSession(
      context,
      tx,
      session,
      `A follow-up of ${url} waits until a person sends or dismisses it: ${summary}.`,
    );
    return write(context, tx, id, 'suggested');
  }
  const chain = followUp.kind === 'checks' ? await checkChain(tx, session, followUp, facts) : null;
  const stop: FollowUpStop | null =
    chain !== null && chain > maxChain ? 'checks' : (await isDayFull(context, tx, session, url, facts)) ? 'day' : null;
  if (stop !== null) {
    if (facts.stop !== stop) {
      await writeStop(tx, session.id, url, stop);
      await noticeSession(context, tx, session, stopSentence(stop, url), { followUpStop: { url, limit: stop } });
    }
    return write(context, tx, id, 'capped');
  }
  if (facts.stop === 'day' || chain !== null) await writeStop(tx, session.id, url, null);
  return send(context, tx, session, followUp, chain);
}

/** Sends a follow-up as a message of the service, which wakes the session. Throws INVALID_STATE for one that takes none. */
export async function send(
  context: Context,
  tx: Transaction,
  session: Pick<SessionRecord, 'id'>,
  { id, url, kind, body }: UnsettledFollowUp,
  chain: number | null,
): Promise<'sent'> {
  await writeMessage(context, tx, session.id, {
    text: body,
    owner: { userId: null, serviceUserId: null, serviceKeyId: null },
    // Neither an open question nor a turn ends by it.
    mode: 'queue',
    closing: async () => null,
    data: { followUp: { id, kind, url } },
  });
  await write(context, tx, id, 'sent', chain);
  return 'sent';
}

/** Tells if a session may get follow-ups of its pull request: it takes messages, and the pull request is open. */
export function takesFollowUps({ isArchived, endedBy, pullRequests }: SessionRecord, url: string): boolean {
  if (isArchived || endedBy === 'terminated' || endedBy === 'expired') return false;
  return pullRequests.some((each) => each.url === url && each.state === 'open');
}

/** Says why follow-ups stopped, and what a person can do. */
export function stopSentence(stop: FollowUpStop, url: string): string {
  const why =
    stop === 'checks'
      ? `checks of ${url} failed again after ${maxChain} attempts in a row`
      : `${url} has had ${maxPerDay} follow-ups in 24 hours`;
  return `The agent gets no further follow-ups: ${why}. A person has to look at it: send a message, push a commit, or set the follow-ups of the pull request again.`;
}

async function isDayFull(
  { now }: Context,
  tx: Transaction,
  { id }: SessionRecord,
  url: string,
  { resumedAt }: PullRequestFacts,
): Promise<boolean> {
  const from = new Date(Math.max(now().getTime() - dayMs, resumedAt?.getTime() ?? 0));
  const rows = await tx.query(
    `select 1 from follow_up f where f.session_id = $1 and f.url = $2 and f.state = 'sent' and f.settled_at > $3::timestamptz
      limit $4`,
    [id, url, from, maxPerDay],
  );
  return rows.length >= maxPerDay;
}

/** Tells if a newer session, which gets its follow-ups by itself, follows the same pull request. */
async function hasNewerSession(tx: Transaction, { id }: SessionRecord, url: string): Promise<boolean> {
  const rows = await tx.query<PullRequestOrigin & { own: string | null; settings: unknown }>(
    `select p.follow_up_mode as own, p.is_opened_by_service as "isOpenedByService", ${isReviewedIn('p')} as "isReviewed",
            r.settings
       from following_session l join session me on me.id = l.session_id
       join following_session o on o.followed_pull_request_id = l.followed_pull_request_id and o.session_id <> l.session_id
       join session s on s.id = o.session_id and not s.is_archived and coalesce(s.ended_by, '') not in ('terminated', 'expired')
       join pull_request p on p.session_id = o.session_id and p.url = o.url
       join repository r on r.id = o.repository_id
      where l.session_id = $1 and l.url = $2 and (s.created_at, s.id) > (me.created_at, me.id)
      order by s.created_at desc limit 100`,
    [id, url],
  );
  return rows.some((row) => followUpModeOf(row.own, readFollowUpSettings(row.settings), row) === 'auto');
}

/** Writes the limit that stopped the follow-ups of a pull request; null: none. */
async function writeStop(tx: Transaction, sessionId: string, url: string, stop: FollowUpStop | null): Promise<void> {
  await tx.query('update pull_request set follow_up_stop = $3 where session_id = $1 and url = $2', [
    sessionId,
    url,
    stop,
  ]);
}

/** Writes the state of a follow-up. */
export async function write<State extends FollowUpState>(
  { now }: Pick<Context, 'now'>,
  tx: Transaction,
  id: string,
  state: State,
  chain: number | null = null,
): Promise<State> {
  await tx.query(
    'update follow_up set state = $2, settled_at = $3::timestamptz, due_at = null, chain = $4::int where id = $1',
    [id, state, now(), chain],
  );
  return state;
}
