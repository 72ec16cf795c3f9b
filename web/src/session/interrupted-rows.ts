import type { Row } from './transcript-rows.ts';

/** An attempt at a turn that was interrupted: the numbers of the entry with which it started, and of the start of the next attempt. */
export interface InterruptedAttempt {
  readonly from: number;
  readonly to: number;
}

/**
 * Marks what the agent wrote in interrupted attempts, which it may repeat in the next one. `addedAt`: the number of the entry at which
 * each row was added; a row without one is in no attempt.
 */
export function markInterrupted(
  rows: readonly Row[],
  addedAt: readonly number[],
  attempts: readonly InterruptedAttempt[],
): readonly Row[] {
  if (attempts.length === 0) return rows;
  return rows.map((row, at) => {
    const seq = addedAt[at];
    if (seq === undefined || !isOfAgent(row)) return row;
    const attempt = attempts.find(({ from, to }) => from <= seq && seq < to);
    return attempt === undefined ? row : { ...row, interruptedAt: attempt.to };
  });
}

const isOfAgent = (row: Row): boolean =>
  row.type === 'tool' ||
  row.type === 'thought' ||
  (row.type === 'message' && (row.entry === null || row.entry.type === 'AGENT_MESSAGE'));
