import type { Transaction } from '../../../store/store.ts';
import type { Context } from '../../context.ts';

/**
 * Deletes the provider keys of a user or an organization that is deleted in the same transaction, and erases their values.
 * Their usage stays.
 */
export async function eraseProviderKeys(
  context: Pick<Context, 'now' | 'notifier'>,
  tx: Transaction,
  owner: { readonly ownerUserId: string } | { readonly organizationId: string },
): Promise<void> {
  const deletedAt = context.now();
  const data = { sealed: null, isEnabled: false, deletedAt, updatedAt: deletedAt };
  const { count } = await tx.prisma.providerKey.updateMany({ where: { ...owner, deletedAt: null }, data });
  if (count > 0) tx.afterCommit(() => context.notifier.notify('provider-keys'));
}
