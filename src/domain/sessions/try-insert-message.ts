import { DomainError } from '../../common/errors.ts';
import type { Transaction } from '../../store/store.ts';
import type { Context } from '../context.ts';
import { insertMessage } from './messages.ts';

/** {@link insertMessage}, but returns false, without any effect, if the session is gone or accepts no messages. */
export async function tryInsertMessage(
  context: Context,
  tx: Transaction,
  message: Parameters<typeof insertMessage>[2],
): Promise<boolean> {
  await tx.query('savepoint message');
  try {
    await insertMessage(context, tx, message);
    return true;
  } catch (error) {
    const isOver = error instanceof DomainError && (error.code === 'NOT_FOUND' || error.code === 'INVALID_STATE');
    if (!isOver) throw error;
    await tx.query('rollback to savepoint message');
    return false;
  }
}
