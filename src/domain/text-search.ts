/** Maximum length of a search text, in UTF-16 code units. */
export const maxSearchLength = 1_000;

/**
 * A case-insensitive search for a text in other texts. PostgreSQL knows the case of non-ASCII letters in some locales
 * only, so the pattern lists the variants of each character: a statement and the process then find the same, on every
 * database.
 */
export interface TextSearch {
  /** A regular expression of PostgreSQL that does not depend on a locale. */
  readonly pattern: string;
  /** Tells if a text contains the search text. */
  readonly isIn: (text: string) => boolean;
}

/** Creates the search for a text, which must be well-formed and contain no NUL. */
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

/** Returns a character and its other cases that are a single character too: "ß" does not become "SS". */
function variantsOf(character: string): number[] {
  const cases = [character, character.toLowerCase(), character.toUpperCase()];
  return [...new Set(cases.filter((each) => Array.from(each).length === 1).map((each) => each.codePointAt(0) ?? 0))];
}

const write = (variants: readonly (readonly number[])[], escapeCode: (code: number) => string): string =>
  variants
    .map((codes) => (codes.length === 1 ? codes.map(escapeCode).join('') : `[${codes.map(escapeCode).join('')}]`))
    .join('');
