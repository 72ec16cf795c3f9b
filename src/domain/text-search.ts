/** The longest text that is searched for, in UTF-16 code units. */
export const maxSearchLength = 1_000;

/**
 * A text that is searched for in others, upper and lower case of each character alike. PostgreSQL knows the case of letters
 * beyond ASCII in some locales only, so the characters that a character may be are written into a pattern: a statement and
 * the process then find the same, on every database.
 */
export interface TextSearch {
  /** A regular expression of PostgreSQL, without the options of a locale. */
  readonly pattern: string;
  /** Whether a text contains the one that is searched for. */
  readonly isIn: (text: string) => boolean;
}

/** The search for a text, which must be well-formed and have no NUL. */
export function textSearch(text: string): TextSearch {
  const variants = Array.from(text, variantsOf);
  const inProcess = new RegExp(
    write(variants, (code) => `\\u{${code.toString(16)}}`),
    'u',
  );
  return {
    pattern: write(variants, (code) => `\\U${code.toString(16).padStart(8, '0')}`),
    isIn: (value) => inProcess.test(value),
  };
}

/** A character and its other cases, those that are one character too: "ß" is no "SS". */
function variantsOf(character: string): number[] {
  const cases = [character, character.toLowerCase(), character.toUpperCase()];
  return [...new Set(cases.filter((each) => Array.from(each).length === 1).map((each) => each.codePointAt(0) ?? 0))];
}

const write = (variants: readonly (readonly number[])[], escapeCode: (code: number) => string): string =>
  variants
    .map((codes) => (codes.length === 1 ? codes.map(escapeCode).join('') : `[${codes.map(escapeCode).join('')}]`))
    .join('');
