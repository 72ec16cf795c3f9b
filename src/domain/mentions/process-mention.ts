import { plainLine } from '../../common/plain-text.ts';
import { isForgeError } from '../../forges/interface/errors.ts';
import type { Forge } from '../../forges/interface/forge.ts';
import type { Services } from '../context.ts';
import { openConnection } from '../git-connections/open-connection.ts';
import { isAmong, readOwnIdentities } from '../git-connections/own-identities.ts';
import { isOutage } from '../unavailable.ts';
import { type ClaimedMention, finishMention, postponeMention } from './claim-mentions.ts';
import { findMentioned } from './find-mentioned.ts';
import { namesIn } from './names-in.ts';
import { reachSession, refuseMention } from './reach-session.ts';
import { answerMark } from './texts.ts';

/**
 * Processes a claimed mention: it reaches a session exactly once if its author may write to the repository, and then gets an answer
 * in its thread. A process that dies meanwhile loses nothing: another one continues after the claim.
 */
export async function processMention(services: Services, mention: ClaimedMention): Promise<void> {
  try {
    await work(services, mention);
  } catch (error) {
    if (isOutage(error)) throw error;
    services.log.warn({ err: error, mentionId: mention.id }, 'A mention of the service could not be processed.');
    const reason = plainLine(isForgeError(error) ? error.message : 'The service could not process it.', 500);
    const isFinal = isForgeError(
      error,
      'NOT_FOUND',
      'REJECTED',
      'MISSING_PERMISSION',
      'UNSUPPORTED',
      'INVALID_CONNECTION',
    );
    if (isFinal) return await finishMention(services, mention.id, 'failed', reason);
    await postponeMention(services, mention, reason, isForgeError(error) ? error.retryAt : null);
  }
}

async function work(services: Services, mention: ClaimedMention): Promise<void> {
  const { id, status } = mention;
  const isPending = status === 'pending';
  const found = await findMentioned(services, mention);
  const isRefused = typeof found === 'string';
  // If the permission is revoked meanwhile, the thread gets no answer about a session.
  if (found === null || (isRefused && mention.sessionId !== null)) {
    return await finishMention(services, id, isPending ? 'ignored' : 'done');
  }
  const forge = await openConnection(services, isRefused ? mention.gitConnectionId : found.repository.connectionId);
  if (isPending && !(await isFromWriter(services, forge, mention))) return await finishMention(services, id, 'ignored');
  const decide = () => (isRefused ? refuseMention(services, mention, found) : reachSession(services, mention, found));
  const answer = isPending ? await decide() : mention.answer;
  if (answer === null) return;
  await writeAnswer(services, forge, mention, answer);
  await finishMention(services, id, 'done');
}

/** Tells if a text names the service, and is of a person who may write to the repository. */
async function isFromWriter(services: Services, forge: Forge, mention: ClaimedMention): Promise<boolean> {
  const { authorId: id, authorLogin: login, gitConnectionId, path } = mention;
  const named = namesIn(mention.body);
  const own = await readOwnIdentities(services, gitConnectionId);
  const names = [services.mentionName, ...own.map((each) => each.login.replace(/\[bot\]$/, ''))];
  if (!names.some((name) => named.has(name.toLowerCase())) || isAmong(own, { id, login })) return false;
  const access = await forge.accessOf(path, login);
  return access === 'write' || access === 'admin';
}

/**
 * Writes the answer to the thread. After an attempt whose result is unknown, an answer that is there is not written again; where the
 * service cannot look, in an issue, it is left out rather than written twice.
 */
async function writeAnswer(services: Services, forge: Forge, mention: ClaimedMention, answer: string): Promise<void> {
  const { id, path, number, isPullRequest, threadId } = mention;
  const { pullRequests } = forge;
  if (pullRequests === null) return;
  if (mention.answerStartedAt !== null) {
    if (!isPullRequest) return;
    const { comments } = await pullRequests.comments(path, number, mention.createdAt);
    if (comments.some(({ body }) => body.includes(answer) && body.startsWith(answerMark))) return;
  }
  await services.store.execute('update mention set answer_started_at = $2::timestamptz where id = $1 returning id', [
    id,
    services.now(),
  ]);
  try {
    if (!isPullRequest) await pullRequests.commentOnIssue(path, number, answer);
    else if (threadId === null) await pullRequests.comment(path, number, answer);
    else await pullRequests.reply(path, number, threadId, answer);
  } catch (error) {
    if (isForgeError(error, 'RATE_LIMITED')) {
      await services.store.execute('update mention set answer_started_at = null where id = $1 returning id', [id]);
    }
    throw error;
  }
}
