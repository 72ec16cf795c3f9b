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

/** Returns the last state of a tool call of the current turn that has not ended; null: there is none. */
export function openCall(toolCallId: string, entries: readonly Entry[]): EntryOf<'ToolCallEvent'> | null {
  const last = entries.findLast(
    (entry) =>
      (entry.__typename === 'ToolCallEvent' && entry.toolCallId === toolCallId) ||
      (entry.__typename === 'TurnEvent' && entry.phase === 'STARTED'),
  );
  return last?.__typename === 'ToolCallEvent' && !isOver(last) ? last : null;
}
