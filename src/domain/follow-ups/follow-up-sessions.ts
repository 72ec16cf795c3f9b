import type { Store } from '../../store/store.ts';
import type { FollowingSession } from '../followed-pull-requests/read-pull-request.ts';
import { isReviewedIn } from '../pull-requests/details.ts';
import {
  type FollowUpSettings,
  followUpModeOf,
  type PullRequestOrigin,
  readFollowUpSettings,
} from '../repositories/follow-up-settings.ts';

/** A session that may get follow-ups of a pull request, with the settings. */
export interface FollowUpSession extends FollowingSession {
  readonly isOpenedByService: boolean;
  readonly createdAt: Date;
  readonly isOff: boolean;
  readonly settings: FollowUpSettings;
  /** Reviews and comments count from this time at the forge on; null: no read has decided it. */
  readonly since: Date | null;
  /** A person has set the follow-ups of the pull request. */
  readonly isSet: boolean;
}

interface FollowUpRow extends PullRequestOrigin {
  readonly id: string;
  readonly own: string | null;
  readonly since: Date | null;
  readonly isSet: boolean;
  readonly createdAt: Date;
  readonly settings: unknown;
}

/** Reads the settings of the sessions of one pull request. */
export async function readFollowUpSessions(
  store: Pick<Store, 'query'>,
  sessions: readonly FollowingSession[],
): Promise<FollowUpSession[]> {
  const rows = await store.query<FollowUpRow>(
    `select s.id, p.follow_up_mode as own, p.is_opened_by_service as "isOpenedByService", p.follow_ups_since as since,
            p.follow_up_resumed_at is not null as "isSet", ${isReviewedIn('p')} as "isReviewed",
            s.created_at as "createdAt", r.settings
       from jsonb_to_recordset($1::jsonb) w(id text, url text, "repositoryId" text)
       join session s on s.id = w.id join pull_request p on p.session_id = w.id and p.url = w.url
       join repository r on r.id = w."repositoryId"`,
    [JSON.stringify(sessions.map(({ id, url, repositoryId }) => ({ id, url, repositoryId })))],
  );
  const found = new Map(rows.map((row) => [row.id, row]));
  return sessions.flatMap((session) => {
    const row = found.get(session.id);
    if (!row) return [];
    const { own, isOpenedByService, isReviewed, since, isSet, createdAt } = row;
    const settings = readFollowUpSettings(row.settings);
    const isOff = followUpModeOf(own, settings, { isOpenedByService, isReviewed }) === 'off';
    return [{ ...session, isOpenedByService, createdAt, settings, since, isSet, isOff }];
  });
}

/** Writes the times from which on reviews and comments count; null: the next read decides it. */
export async function writeSince(
  store: Pick<Store, 'execute'>,
  sessions: readonly Pick<FollowUpSession, 'id' | 'url' | 'since'>[],
): Promise<void> {
  if (sessions.length === 0) return;
  await store.execute(
    `update pull_request p set follow_ups_since = w.since
       from jsonb_to_recordset($1::jsonb) w(id text, url text, since timestamptz)
      where p.session_id = w.id and p.url = w.url returning p.session_id`,
    [JSON.stringify(sessions.map(({ id, url, since }) => ({ id, url, since })))],
  );
}

/** Writes that all checks passed, for the sessions of a pull request. */
export async function writeChecksPassed(
  store: Pick<Store, 'execute'>,
  sessions: readonly Pick<FollowUpSession, 'id' | 'url'>[],
  at: Date,
): Promise<void> {
  await store.execute(
    `update pull_request p set checks_passed_at = $2::timestamptz,
            follow_up_stop = case when p.follow_up_stop = 'checks' then null else p.follow_up_stop end
       from jsonb_to_recordset($1::jsonb) w(id text, url text)
      where p.session_id = w.id and p.url = w.url returning p.session_id`,
    [JSON.stringify(sessions.map(({ id, url }) => ({ id, url }))), at],
  );
}

/** Returns the keys among these that the sessions already have, as `session key`, for each session of a pull request. */
export async function readKnownKeys(
  store: Pick<Store, 'query'>,
  sessions: readonly Pick<FollowUpSession, 'id' | 'url'>[],
  keys: readonly string[],
): Promise<Set<string>> {
  if (keys.length === 0) return new Set();
  const rows = await store.query<{ name: string }>(
    `select f.session_id || ' ' || f.key as name
       from jsonb_to_recordset($1::jsonb) w(id text, url text)
       join follow_up f on f.session_id = w.id and f.url = w.url and f.key = any($2::text[])`,
    [JSON.stringify(sessions.map(({ id, url }) => ({ id, url }))), keys],
  );
  return new Set(rows.map(({ name }) => name));
}
