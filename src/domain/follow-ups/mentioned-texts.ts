import type { Transaction } from '../../store/store.ts';
import type { Services } from '../context.ts';
import type { SessionRecord } from '../sessions/session.ts';
import { notifyPullRequests } from '../sessions/write-pull-request.ts';
import type { FollowUpState } from './follow-up.ts';
import { write } from './settle.ts';
import { withoutText } from './texts.ts';

/** The kinds of a mention's source key, and those of the same text in follow-ups. GitLab does not say which comment it is. */
const kinds = [
  ['comment', 'talk'],
  ['line', 'line'],
  ['note', 'talk'],
  ['note', 'line'],
  ['review', 'review'],
] as const;

/** The pull request of a connection. */
export interface ReadPullRequest {
  readonly gitConnectionId: string;
  readonly path: string;
  readonly number: number;
}

/** The texts of a pull request that mentions have brought, as follow-ups name them: `talk:<id>`, `line:<id>`, `review:<id>`. */
export interface MentionedTexts {
  /** A session got the text. */
  readonly handled: ReadonlySet<string>;
  /** It is not decided yet if the text is a mention. */
  readonly undecided: ReadonlySet<string>;
}

/**
 * Reads which of these texts mentions have brought. The caller has locked a session, so that no mention reaches it meanwhile.
 */
export async function readMentionedTexts(
  tx: Transaction,
  { gitConnectionId, path, number }: ReadPullRequest,
  keys: readonly string[],
): Promise<MentionedTexts> {
  const handled = new Set<string>();
  const undecided = new Set<string>();
  if (keys.length === 0) return { handled, undecided };
  const rows = await tx.query<{ sourceKey: string; isHandled: boolean }>(
    `select m.source_key as "sourceKey", m.session_id is not null as "isHandled" from git_connection c
       join mention m on m.enterprise_id = c.enterprise_id and m.host = c.host_key and m.path_key = lower($2)
      where c.id = $1 and m.source_key = any($3::text[]) and m.number = $4 and m.is_pull_request
        and (m.status = 'pending' or m.session_id is not null)`,
    [gitConnectionId, path, keys.flatMap(sourceKeysOf), number],
  );
  for (const { sourceKey, isHandled } of rows) {
    for (const key of followUpKeysOf(sourceKey)) (isHandled ? handled : undecided).add(key);
  }
  return { handled, undecided };
}

/** A text of a mention, and a session that follows its pull request. */
export interface TextOfMention {
  /** Unprefixed. */
  readonly sessionId: string;
  /** The pull request, as the session has it. */
  readonly url: string;
  /** The source key of the mention. */
  readonly sourceKey: string;
}

/** Returns the session among these that got the text of a mention as a follow-up already; null: none. */
export async function findSentText(
  tx: Transaction,
  sessions: readonly Pick<TextOfMention, 'sessionId' | 'url'>[],
  sourceKey: string,
): Promise<string | null> {
  const [row] = await tx.query<{ id: string }>(
    `select f.session_id as id from jsonb_to_recordset($1::jsonb) w("sessionId" text, url text)
       join follow_up f on f.session_id = w."sessionId" and f.url = w.url and f.state = 'sent'
        and (f.key = any($2::text[]) or f.comment_ids && $2::text[]) limit 1`,
    [JSON.stringify(sessions.map(({ sessionId, url }) => ({ sessionId, url }))), followUpKeysOf(sourceKey)],
  );
  return row?.id ?? null;
}

interface UnsentRow {
  readonly id: string;
  readonly key: string;
  readonly body: string;
}

const unsent = ['pending', 'suggested', 'capped'] as const satisfies readonly FollowUpState[];

/**
 * Removes the text of a mention from follow-ups that a locked session has not got. One that has nothing else is skipped.
 */
export async function removeMentionedText(
  services: Pick<Services, 'now' | 'notifier'>,
  tx: Transaction,
  session: Pick<SessionRecord, 'id' | 'organizationId'>,
  { url, sourceKey }: Pick<TextOfMention, 'url' | 'sourceKey'>,
): Promise<void> {
  const keys = followUpKeysOf(sourceKey);
  const rows = await tx.query<UnsentRow>(
    `select f.id, f.key, f.body from follow_up f
      where f.session_id = $1 and f.url = $2 and f.state = any($4::text[])
        and (f.key = any($3::text[]) or f.comment_ids && $3::text[])`,
    [session.id, url, keys, unsent],
  );
  if (rows.length > 0) await notifyPullRequests(services, tx, session);
  for (const { id, key, body } of rows) {
    const rest = withoutText(body, keys.includes(key) ? null : sourceKey.slice(sourceKey.indexOf(':') + 1));
    if (rest === null) await write(services, tx, id, 'skipped');
    else await tx.query('update follow_up set body = $2 where id = $1', [id, rest]);
  }
}

const partsOf = (key: string): [kind: string, id: string] => {
  const [kind = '', id = ''] = key.split(':');
  return [kind, id];
};

function sourceKeysOf(key: string): string[] {
  const [kind, id] = partsOf(key);
  return kinds.flatMap(([source, own]) => (own === kind ? [`${source}:${id}`] : []));
}

function followUpKeysOf(sourceKey: string): string[] {
  const [kind, id] = partsOf(sourceKey);
  return kinds.flatMap(([source, own]) => (source === kind ? [`${own}:${id}`] : []));
}
