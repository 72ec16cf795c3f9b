import type { Row } from './transcript-rows.ts';

/**
 * Marks the rows that a rewind reverted: those that were added after the entry `toSeq`. `addedAt`: the number of the entry at which
 * each row was added, which is later than its own for a message that waited for the agent.
 */
export function markReverted(rows: Row[], addedAt: readonly number[], toSeq: number): void {
  for (let at = rows.length - 1; at >= 0; at--) {
    const row = rows[at];
    // Rows are added in the order of the log: the others are from before.
    if (row === undefined || (addedAt[at] ?? 0) <= toSeq) return;
    rows[at] = { ...row, isReverted: true };
  }
}
