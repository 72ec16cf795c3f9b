import type { Transaction } from '../../store/store.ts';
import type { Context } from '../context.ts';

/**
 * To be called, last, in every transaction after which some key may do less than before, or nothing: revocation, rotation,
 * changed roles, deleted principals and organizations, a changed IP access list. Every process then looks again at whose
 * streams it has open: rung at once, and by the epoch where the ring was lost (pinned 5). Requests need no telling, since
 * each of them reads its key anew.
 */
export async function announceKeyChange(context: Pick<Context, 'bell'>, tx: Transaction): Promise<void> {
  await tx.query(`update installation set key_epoch = key_epoch + 1 where id = 'installation'`);
  tx.afterCommit(() => context.bell.ring('keys'));
}
