import type { Transaction } from '../../store/store.ts';
import { insertStatement } from '../../store/tables.ts';
import type { Services } from '../context.ts';
import { newId } from '../ids.ts';
import { write } from './settle.ts';

/** Comments of a pull request that a session got in another way. */
export interface ReachedComments {
  /** Unprefixed. */
  readonly sessionId: string;
  /** The pull request, as the session has it. */
  readonly url: string;
  /** As `commentKey` names them. */
  readonly commentIds: readonly [string, ...string[]];
}

/**
 * Records comments that a session got, so that no follow-up sends them again. A follow-up of these comments alone that waits is
 * skipped; one that has others too is sent as it is. The caller has locked the session.
 */
export async function skipComments(
  services: Pick<Services, 'now'>,
  tx: Transaction,
  { sessionId, url, commentIds }: ReachedComments,
): Promise<void> {
  const waiting = await tx.query<{ id: string }>(
    `select f.id from follow_up f
      where f.session_id = $1 and f.url = $2 and f.kind = 'comments' and f.state in ('pending', 'suggested')
        and f.comment_ids <@ $3::text[]`,
    [sessionId, url, commentIds],
  );
  for (const { id } of waiting) await write(services, tx, id, 'skipped');
  if (waiting.length > 0) return;
  const now = services.now();
  const { text, values } = insertStatement('FollowUp', {
    ...{ id: newId(), sessionId, url, key: `comments:${commentIds[0]}`, kind: 'comments', state: 'skipped' },
    ...{ summary: 'A mention of the service', body: '', commentIds: [...commentIds], chain: null },
    ...{ dueAt: null, createdAt: now, settledAt: now },
  });
  await tx.query(`${text} on conflict do nothing`, values);
}
