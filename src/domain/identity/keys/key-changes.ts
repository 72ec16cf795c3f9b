import type { Transaction } from '../../../store/store.ts';
import type { Context } from '../../context.ts';

/**
 * To be called, last, in every transaction after which some key may do less than before, or more, or is its owner's under
 * another name: revocation, rotation, given and changed roles, deleted principals and organizations, a changed IP access
 * list. Every process then reads again what it knows of keys, and whose streams it has open: rung at once, and by the epoch
 * where the ring was lost (pinned 5). New keys need no telling: nothing is known of them.
 */
export async function announceKeyChange(context: Pick<Context, 'notifier'>, tx: Transaction): Promise<void> {
  await tx.query(`update installation set key_epoch = key_epoch + 1 where id = 'installation'`);
  tx.afterCommit(() => context.notifier.notify('keys'));
}
