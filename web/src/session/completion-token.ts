/** The word before the cursor that can be completed. */
export interface CompletionToken {
  /** `@`: repositories, files and playbooks; `!`: playbooks. */
  readonly sign: '@' | '!';
  /** The typed text after the sign. */
  readonly search: string;
  /** The position of the sign in the text. */
  readonly start: number;
}

/**
 * Finds the word at the cursor that begins with `@` or `!`, or with `/` at the start of the text. A lone `!` is
 * punctuation, and so is a sign inside of a word.
 */
export function tokenAt(text: string, cursor: number): CompletionToken | null {
  const before = text.slice(0, cursor);
  const slash = /^\/([\w-]{0,100})$/.exec(before);
  if (slash) return { sign: '!', search: slash[1] ?? '', start: 0 };
  const found = /(?:^|[\s(])(@[\p{L}\p{N}_./-]{0,300}|![\w-]{1,100})$/u.exec(before);
  const word = found?.[1];
  if (word === undefined) return null;
  return { sign: word.startsWith('@') ? '@' : '!', search: word.slice(1), start: cursor - word.length };
}
