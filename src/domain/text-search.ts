/** Maximum length of a search text, in UTF-16 code units. */
export const maxSearchLength = 1_000;

/** Maximum number of words of a search: each is a pattern that every searched text is tested with. */
const maxWords = 20;
const firstWords = new RegExp(`^(?:\\S+\\s+){${maxWords - 1}}`, 'u');

/** Splits a search text into its words. If it has more than 20, the last one is the rest of the text as it is. */
export function wordsOf(text: string): string[] {
  const trimmed = text.trim();
  const [first] = firstWords.exec(trimmed) ?? [];
  const words = (first ?? trimmed).split(/\s+/u).filter((word) => word !== '');
  return first === undefined ? words : [...words, trimmed.slice(first.length)];
}

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
  const variants = Array.from(text, codesOf);
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
export function variantsOf(character: string): string[] {
  const cases = [character, character.toLowerCase(), character.toUpperCase()];
  return [...new Set(cases.filter((each) => Array.from(each).length === 1))];
}

const codesOf = (character: string): number[] => variantsOf(character).map((each) => each.codePointAt(0) ?? 0);

const write = (variants: readonly (readonly number[])[], escapeCode: (code: number) => string): string =>
  variants
    .map((codes) => (codes.length === 1 ? codes.map(escapeCode).join('') : `[${codes.map(escapeCode).join('')}]`))
    .join('');
