import type { Transaction } from '../../../store/store.ts';
import type { Context } from '../../context.ts';

/**
 * Call this last in every transaction after which a key has fewer or more permissions, or its owner another name:
 * revocation, rotation, changed role assignments and roles, deleted principals and organizations, a changed IP access
 * list. Every process then reads its cached keys, and those of its open streams, again: at once after the notification,
 * or by the epoch if the notification was missed (docs/decisions/0011-cache-api-keys-until-a-key-changes.md). New keys need
 * no announcement, because no process has cached them.
 */
export async function announceKeyChange(context: Pick<Context, 'notifier'>, tx: Transaction): Promise<void> {
  await tx.query(`update installation set key_epoch = key_epoch + 1 where id = 'installation'`);
  tx.afterCommit(() => context.notifier.notify('keys'));
}
