import { type Entry, type EntryOf, isOver } from './entry.ts';

/**
 * Returns true for the message that repeats a question, with its options: each question is also sent as a message, for
 * clients that read messages only.
 */
export function repeatsQuestion(
  { body, options }: Pick<EntryOf<'QuestionEvent'>, 'body' | 'options'>,
  message: string,
): boolean {
  const lines = [body.trim(), ...options.map(({ optionId, name }) => `${optionId}. ${name}`)];
  return message.trim() === body.trim() || message.trim() === lines.join('\n').trim();
}

/** Returns the title of the tool call that a request for a permission is about; null if its text has another form. */
export const titleToPermit = (body: string): string | null => /^May I run (.+)\?$/s.exec(body.trim())?.[1] ?? null;

/** At most this many calls are shown with a question. */
const maxCalls = 5;

/**
 * Finds the tool calls of the current turn with this title that have not ended: all, if several have it, because the user must
 * see whatever may run.
 */
export function callsToPermit(title: string, entries: readonly Entry[]): readonly EntryOf<'ToolCallEvent'>[] {
  const calls = new Map<string, EntryOf<'ToolCallEvent'>>();
  for (const entry of entries) {
    if (entry.__typename === 'ToolCallEvent') calls.set(entry.toolCallId, entry);
    else if (entry.__typename === 'TurnEvent' && entry.phase === 'STARTED') calls.clear();
  }
  return [...calls.values()].filter((call) => !isOver(call) && call.title === title).slice(-maxCalls);
}
