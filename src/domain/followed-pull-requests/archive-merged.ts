import type { PullRequestState } from '../../forges/interface/pull-requests.ts';
import type { Transaction } from '../../store/store.ts';
import type { Context } from '../context.ts';
import { readFollowUpSettings } from '../repositories/follow-up-settings.ts';
import { archiveLocked } from '../sessions/archive-session.ts';
import { appendEntries } from '../sessions/log.ts';
import type { SessionRecord } from '../sessions/session.ts';

/** The state of a pull request of a session that its forge gave. */
export interface ReadState {
  readonly url: string;
  readonly repositoryId: string;
  readonly state: PullRequestState;
}

/**
 * Archives a session that `lockRunAndSession` has locked, if a pull request of it has just been merged or closed, all others
 * are too, at least one is merged, and the repository's settings say so. `before`: the session before the state was written,
 * so that a session that somebody unarchived stays so.
 */
export async function archiveMerged(
  context: Context,
  tx: Transaction,
  before: SessionRecord,
  { url, repositoryId, state }: ReadState,
): Promise<void> {
  if ((state !== 'merged' && state !== 'closed') || before.isArchived) return;
  const own = before.pullRequests.find((each) => each.url === url);
  if (own?.state === state || before.pullRequests.some((each) => each.url !== url && each.state === 'open')) return;
  if (state !== 'merged' && before.pullRequests.every((each) => each.state !== 'merged')) return;
  const [repository] = await tx.query<{ settings: unknown }>('select settings from repository where id = $1', [
    repositoryId,
  ]);
  if (!readFollowUpSettings(repository?.settings).isArchivedWhenMerged) return;
  const body = 'The session is archived: all its pull requests are merged or closed.';
  await appendEntries(tx, before.id, null, [{ kind: 'NOTICE', body }], context.now());
  await archiveLocked(context, tx, before);
}
