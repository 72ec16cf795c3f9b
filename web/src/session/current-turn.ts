import type { Entry, EntryOf } from './entry.ts';

/** Returns the entry that started the current turn; null: none in these entries. */
export function startOfTurn(entries: readonly Entry[]): EntryOf<'TurnEvent'> | null {
  const last = entries.findLast((entry) => entry.__typename === 'TurnEvent');
  return last?.__typename === 'TurnEvent' && last.phase === 'STARTED' ? last : null;
}

/**
 * Returns the entry since which the agent works: the start of the current turn, or the last answer in it, since the agent does not
 * work while it waits for a person. Null: no turn has started in these entries.
 */
export function startOfWork(entries: readonly Entry[]): EntryOf<'TurnEvent'> | EntryOf<'SessionMessage'> | null {
  const turn = startOfTurn(entries);
  if (turn === null) return null;
  const isAnswer = (entry: Entry) => entry.__typename === 'SessionMessage' && entry.answer != null;
  const answer = entries.slice(entries.indexOf(turn)).findLast(isAnswer);
  return answer?.__typename === 'SessionMessage' ? answer : turn;
}
