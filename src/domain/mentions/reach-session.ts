import { findOwnerViewer } from '../../auth/owner-viewer.ts';
import { permissionFor } from '../../auth/permissions.ts';
import { DomainError } from '../../common/errors.ts';
import type { Transaction } from '../../store/store.ts';
import type { Context, Services } from '../context.ts';
import { findSentText, removeMentionedText } from '../follow-ups/mentioned-texts.ts';
import { useOrganization } from '../identity/organizations/use-organization.ts';
import { insertSession } from '../sessions/create-session.ts';
import { sessionUrl } from '../sessions/session.ts';
import { lockRunAndSession } from '../sessions/suspend-session.ts';
import { tryInsertMessage } from '../sessions/try-insert-message.ts';
import type { ClaimedMention } from './claim-mentions.ts';
import type { Mentioned, MentionRefusal } from './find-mentioned.ts';
import { answers, promptOf } from './texts.ts';

/** Permissions of an organization whose sessions mentions start: they belong to it, as those of its automations. */
const ofOrganization = [permissionFor.createSession, permissionFor.sendMessage] as const;

/**
 * Sends a mention to the session that follows its pull request, or starts a session in the repository, and writes the answer for
 * the thread: all in one transaction, once. A refusal is an answer too. Returns the answer; null: another process was first.
 */
export async function reachSession(
  services: Services,
  mention: ClaimedMention,
  { organizationId, repository }: Mentioned,
): Promise<string | null> {
  const { store } = services;
  try {
    const context = await asOrganization(services, organizationId);
    const organization = await useOrganization(context, organizationId, permissionFor.createSession);
    return await store.transact(async (tx) => {
      if (!(await lockPending(tx, mention.id))) return null;
      const existing = await messageFollower(context, tx, mention, organizationId);
      if (existing !== null) {
        const answer = answers.messaged(sessionUrl(context, existing));
        return await saveAnswer(tx, mention.id, { answer, organizationId, sessionId: existing });
      }
      const target = {
        repository: repository.repositoryId,
        pullRequest: mention.isPullRequest ? mention.number : null,
      };
      const title = mention.title || `${mention.isPullRequest ? 'Pull request' : 'Issue'} ${mention.number}`;
      const input = { prompt: promptOf(mention), title, repositories: [target] };
      const sessionId = await insertSession(context, tx, organization, { input, automationId: null });
      const answer = answers.started(sessionUrl(context, sessionId));
      return await saveAnswer(tx, mention.id, { answer, organizationId, sessionId, isStart: true });
    });
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    services.log.warn({ err: error, mentionId: mention.id, organizationId }, 'A mention could not start a session.');
    return store.transact(async (tx) => {
      if (!(await lockPending(tx, mention.id))) return null;
      return await saveAnswer(tx, mention.id, { answer: answers.refused(error.code), organizationId, sessionId: null });
    });
  }
}

/** Refuses a pending mention that reaches no organization. Returns the answer for the thread; null: another process decided it. */
export async function refuseMention(
  services: Services,
  { id, host, path }: ClaimedMention,
  reason: MentionRefusal,
): Promise<string | null> {
  services.log.info({ mentionId: id, repository: `${host}/${path}`, reason }, 'A mention reaches no organization.');
  return services.store.transact(async (tx) => {
    if (!(await lockPending(tx, id))) return null;
    return await saveAnswer(tx, id, { answer: answers.unreachable(reason), organizationId: null, sessionId: null });
  });
}

async function lockPending(tx: Transaction, id: string): Promise<boolean> {
  const rows = await tx.query("select 1 from mention where id = $1 and status = 'pending' for update", [id]);
  return rows.length > 0;
}

async function saveAnswer(
  tx: Transaction,
  id: string,
  {
    answer,
    organizationId,
    sessionId,
    isStart = false,
  }: { answer: string; organizationId: string | null; sessionId: string | null; isStart?: boolean },
): Promise<string> {
  await tx.query(
    "update mention set status = 'answering', answer = $2, organization_id = $3, session_id = $4, is_start = $5::boolean where id = $1",
    [id, answer, organizationId, sessionId, isStart],
  );
  return answer;
}

/**
 * Sends a mention on a pull request to the newest session of the organization that works on it, unless one of them got it as a
 * follow-up. A session that only reviews it cannot push. Returns the session that has it. Null: none takes it.
 */
async function messageFollower(
  context: Context,
  tx: Transaction,
  mention: ClaimedMention,
  organizationId: string,
): Promise<string | null> {
  if (!mention.isPullRequest) return null;
  const sessions = await tx.query<{ sessionId: string; url: string }>(
    `select s.id as "sessionId", l.url from git_connection c
       join followed_pull_request f on f.git_connection_id = c.id and f.path_key = $3 and f.number = $4
       join following_session l on l.followed_pull_request_id = f.id
       join session s on s.id = l.session_id and s.organization_id = $5 and not s.is_archived
      where c.enterprise_id = $1 and c.host_key = $2 and c.deleted_at is null
        and coalesce(s.ended_by, '') not in ('terminated', 'expired')
        and not exists (select 1 from session_review v where v.session_id = s.id)
      order by s.created_at desc, s.id desc limit 3`,
    [mention.enterpriseId, mention.host, mention.pathKey, mention.number, organizationId],
  );
  const { sourceKey } = mention;
  for (const { sessionId, url } of sessions) {
    await lockRunAndSession(tx, sessionId);
    const sentTo = await findSentText(tx, sessions, sourceKey);
    if (sentTo !== null) return sentTo;
    if (!(await tryInsertMessage(context, tx, { sessionId, organizationId, message: promptOf(mention) }))) continue;
    await removeMentionedText(context, tx, { id: sessionId, organizationId }, { url, sourceKey });
    return sessionId;
  }
  return null;
}

async function asOrganization(services: Services, organizationId: string): Promise<Context> {
  const owner = { userId: null, serviceUserId: null, organizationId };
  const viewer = await findOwnerViewer(services, owner, ofOrganization);
  if (viewer === null) throw new DomainError('INVALID_STATE', 'The organization has been deleted.');
  // Not spread: the address in `url` fields is known only later.
  return Object.create(services, {
    viewer: { value: viewer, enumerable: true },
    address: { value: null, enumerable: true },
  });
}
