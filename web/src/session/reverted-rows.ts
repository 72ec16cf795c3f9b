import type { Row } from './transcript-rows.ts';

/** A rewind at the entry `seq` of a log, which returned the session to its state after the entry `toSeq`. */
interface Rewind {
  readonly seq: number;
  readonly toSeq: number;
}

/**
 * Marks the rows that no longer count after the rewinds of a log, in its order. A rewind gives the rows up to its `toSeq` the marks that
 * they had when the log ended there, so rows that an earlier rewind reverted can count again. `addedAt`: the number of the entry at
 * which each row was added, which is later than its own for a message that waited for the agent; a row without one counts.
 */
export function markReverted(
  rows: readonly Row[],
  addedAt: readonly number[],
  rewinds: readonly Rewind[],
): readonly Row[] {
  if (rewinds.length === 0) return rows;
  const parts = countingParts(rewinds);
  const counts = (seq: number) => parts.some(({ from, to }) => from <= seq && seq <= to);
  return rows.map((row, at) => (counts(addedAt[at] ?? Number.POSITIVE_INFINITY) ? row : { ...row, isReverted: true }));
}

/** Returns the parts of a log that count, the last first. */
function countingParts(rewinds: readonly Rewind[]): readonly { readonly from: number; readonly to: number }[] {
  const parts = [];
  let to = Number.POSITIVE_INFINITY;
  for (const { seq, toSeq } of rewinds.toReversed()) {
    // A rewind after this position was itself reverted.
    if (seq > to) continue;
    parts.push({ from: seq, to });
    to = toSeq;
  }
  return [...parts, { from: 0, to }];
}
