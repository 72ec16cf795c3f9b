import type { Entry, EntryOf } from './entry.ts';

interface MessageRow {
  readonly entry: EntryOf<'SessionMessage'>;
}

/** Returns true for a user's message that starts a turn or waits for one: not for an answer. */
const isForTurn = (entry: Entry): entry is EntryOf<'SessionMessage'> =>
  entry.__typename === 'SessionMessage' &&
  entry.type !== 'AGENT_MESSAGE' &&
  entry.answer == null &&
  entry.delivery != null;

/** Returns whether a turn is open after the entry; null: the entry does not say it. */
function turnAfter(entry: Entry): boolean | null {
  if (entry.__typename === 'TurnEvent') return entry.phase === 'STARTED';
  // The end of a turn in which the session failed is not in the log.
  return entry.__typename === 'StatusEvent' && (entry.status === 'ERROR' || entry.status === 'EXIT') ? false : null;
}

/**
 * Holds the messages that wait for the agent until the turn starts that they belong to, so that the transcript shows them
 * where the agent received them. The first message between two turns is not held: it starts the next one.
 */
export class HeldMessages<R extends MessageRow> {
  #rows: R[] = [];
  /** Null: the beginning of the log is not loaded. */
  #isTurnOpen: boolean | null;
  #hasFirst = false;

  constructor(entries: readonly Entry[]) {
    this.#isTurnOpen = startsAtBeginning(entries) ? false : null;
  }

  /** Holds the message, or returns false. */
  take(row: R): boolean {
    if (!isForTurn(row.entry)) return false;
    const isFirst = this.#isTurnOpen === false && !this.#hasFirst && this.#rows.length === 0;
    this.#hasFirst = true;
    if (!isFirst) this.#rows.push(row);
    return !isFirst;
  }

  /** The held messages, which an event may edit. */
  get rows(): R[] {
    return this.#rows;
  }

  /** Returns the messages that are no longer held after an entry, oldest first. */
  release(entry: Entry): readonly R[] {
    if (entry.__typename === 'MessageChangedEvent') return this.#remove(({ delivery }) => delivery === 'WITHDRAWN');
    const isOpen = turnAfter(entry);
    if (isOpen === null) return [];
    const wasOpen = this.#isTurnOpen;
    this.#isTurnOpen = isOpen;
    this.#hasFirst = false;
    // A turn that starts twice was interrupted, and continues with its own messages.
    return isOpen && wasOpen !== true ? this.#remove(() => true) : [];
  }

  /** Returns the messages that the agent has received according to their state, although the log shows no turn. */
  rest(): readonly R[] {
    return this.#rows.filter(({ entry }) => entry.delivery !== 'QUEUED');
  }

  #remove(isMeant: (entry: EntryOf<'SessionMessage'>) => boolean): readonly R[] {
    const removed = this.#rows.filter(({ entry }) => isMeant(entry));
    if (removed.length > 0) this.#rows = this.#rows.filter(({ entry }) => !isMeant(entry));
    return removed;
  }
}

const startsAtBeginning = (entries: readonly Entry[]) => (entries[0]?.seq ?? 1) === 1;

/** Returns the waiting messages that the transcript does not show (see {@link HeldMessages}), oldest first. */
export function withoutShown<T extends { readonly id: string }>(
  waiting: readonly T[],
  entries: readonly Entry[],
): readonly T[] {
  if (waiting.length === 0) return waiting;
  const held = new HeldMessages<MessageRow>(entries);
  const shown = new Set<string>();
  const show = (rows: readonly MessageRow[]) => {
    for (const { entry } of rows) shown.add(entry.id);
  };
  for (const entry of entries) {
    if (entry.__typename !== 'SessionMessage') show(held.release(entry));
    else if (!held.take({ entry })) shown.add(entry.id);
  }
  show(held.rest());
  return waiting.filter(({ id }) => !shown.has(id));
}
