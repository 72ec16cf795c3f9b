/** A position in items that are ordered by (the transaction that changed them last, id). */
export interface TransactionCursor {
  readonly xid: bigint;
  readonly id: string;
}

/** Returns whether a position is after another one. */
export const isAfter = (one: TransactionCursor, other: TransactionCursor): boolean =>
  one.xid > other.xid || (one.xid === other.xid && one.id > other.id);

/**
 * Returns the position up to which everything has been read, after a read of the items from a position on, in order. `xmin`: the
 * oldest transaction that was open. Transactions may commit in another order than they began, but no item before `xmin` can change
 * or appear any more. Returns `from` itself if nothing is settled.
 */
export function settledCursor(
  from: TransactionCursor,
  items: readonly TransactionCursor[],
  { xmin, hasMore }: { readonly xmin: bigint; readonly hasMore: boolean },
): TransactionCursor {
  if (!hasMore && xmin >= from.xid) return { xid: xmin, id: '' };
  return items.findLast(({ xid }) => xid < xmin) ?? from;
}
