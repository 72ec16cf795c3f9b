import { type Entry, isOver } from './entry.ts';

/** The kinds of tool calls after which files may differ. */
const changing: ReadonlySet<string> = new Set(['EDIT', 'DELETE', 'MOVE', 'EXECUTE']);

/** Returns the log position at which the last tool call ended that changes files or runs a command; null: none. */
export function lastWorkEnd(entries: readonly Entry[]): number | null {
  const last = entries.findLast(
    (entry) =>
      entry.__typename === 'ToolCallEvent' &&
      isOver(entry) &&
      (changing.has(entry.toolKind) || (entry.diffs?.length ?? 0) > 0),
  );
  return last?.seq ?? null;
}

/** Returns true if a tool call of these entries runs a command. */
export const hasCommand = (entries: readonly Entry[]): boolean =>
  entries.some((entry) => entry.__typename === 'ToolCallEvent' && entry.toolKind === 'EXECUTE');

/** An event of a turn: its start, or its end. */
export interface TurnMark {
  readonly id: string;
  readonly at: string;
  readonly isEnded: boolean;
}

/** Returns the last event of a turn; null: none. */
export function lastTurnMark(entries: readonly Entry[]): TurnMark | null {
  const last = entries.findLast((entry) => entry.__typename === 'TurnEvent');
  if (last?.__typename !== 'TurnEvent') return null;
  return { id: last.id, at: last.createdAt, isEnded: last.phase !== 'STARTED' };
}
