import { DomainError } from '../../common/errors.ts';
import { plainLine } from '../../common/plain-text.ts';
import { isForgeError } from '../../forges/interface/errors.ts';
import type { Services } from '../context.ts';
import { asSystem } from '../sessions/as-system.ts';
import { lockSession, notifySession } from '../sessions/change-session.ts';
import { appendEntries } from '../sessions/log.ts';
import { isTemporary } from './failures.ts';
import { claimIntents, deleteIntent, type Intent, isLastAttempt, postponeIntent } from './intents.ts';
import { finishIntent } from './open-pull-request.ts';
import { findTarget, refuseReadOnly } from './target.ts';

/** Maximum number of intents of one round. */
const batchSize = 10;

/** Finishes or clears the intents that a process left behind. Any number of processes may do it at once. */
export async function resumeIntents(services: Services, isStopped: () => boolean = () => false): Promise<void> {
  for (const intent of await claimIntents(services, batchSize)) {
    if (isStopped()) return;
    await resume(services, intent);
  }
}

async function resume(services: Services, intent: Intent): Promise<void> {
  const { id, sessionId, organizationId, repositoryId } = intent;
  const context = asSystem(services, intent.enterpriseId);
  try {
    const target = await findTarget(services, { id: sessionId, organizationId }, repositoryId);
    refuseReadOnly(target);
    await finishIntent(context, intent, target);
  } catch (error) {
    if (isForgeError(error) && isTemporary(error) && !isLastAttempt(intent)) return await postponeIntent(services, id);
    if (!isForgeError(error) && !(error instanceof DomainError)) throw error;
    const body = `The pull request of ${intent.request.headBranch} could not be opened: ${plainLine(error.message, 1_000)}`;
    await services.store.transact(async (tx) => {
      const session = await lockSession(tx, sessionId, null);
      await appendEntries(tx, sessionId, null, [{ kind: 'NOTICE', body }], services.now());
      await deleteIntent(tx, id);
      notifySession(services, tx, session);
    });
  }
}
