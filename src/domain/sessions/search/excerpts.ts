import { type SearchTerm, wordPattern } from './search-query.ts';

/** A part of a text: positions in UTF-16 code units. */
export interface TextRange {
  readonly start: number;
  readonly length: number;
}

/** A part of a text, on one line, with the words that a search found. */
export interface Excerpt {
  readonly text: string;
  readonly highlights: readonly TextRange[];
}

/** The length of an excerpt, and of what it shows before the first word that was found. */
const maxLength = 240;
const lead = 60;

/** Number of characters of a text that search knows; see `session_words` in the database. */
export const searchedLength = 20_000;

/**
 * Returns the parts of a text that the terms of a search match: whole words, in order and without overlaps, from the first one to at
 * most `within` characters after it.
 */
export function findTerms(text: string, terms: readonly SearchTerm[], within: number = text.length): TextRange[] {
  const words = [...text.matchAll(wordPattern)].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
    word: match[0].toLowerCase(),
  }));
  const found: TextRange[] = [];
  for (let n = 0; n < words.length; n += 1) {
    if (found[0] && (words[n]?.start ?? 0) > found[0].start + within) break;
    const length = Math.max(0, ...terms.map((term) => (isAt(words, n, term) ? term.words.length : 0)));
    const [first, last] = [words[n], words[n + length - 1]];
    if (length === 0 || !first || !last) continue;
    found.push({ start: first.start, length: last.end - first.start });
    n += length - 1;
  }
  return found;
}

function isAt(words: readonly { word: string }[], at: number, { words: wanted, isPrefix }: SearchTerm): boolean {
  return wanted.every((word, n) => {
    const own = words[at + n]?.word;
    return own === word || (isPrefix && n === wanted.length - 1 && own?.startsWith(word) === true);
  });
}

/**
 * Returns the part of a text around the first match, at most 240 characters, with spaces for line breaks and an ellipsis where
 * the text continues.
 */
export function excerptOf(text: string, terms: readonly SearchTerm[]): Excerpt {
  const line = text.slice(0, searchedLength).replaceAll(/\s/g, ' ');
  const found = findTerms(line, terms, maxLength);
  const from = startOf(line, found[0]?.start ?? 0);
  const to = withoutHalf(line, Math.min(line.length, from + maxLength));
  const before = from > 0 ? '…' : '';
  const inside = found.filter(({ start, length }) => start >= from && start + length <= to);
  return {
    text: `${before}${line.slice(from, to)}${to < text.length ? '…' : ''}`,
    highlights: inside.map(({ start, length }) => ({ start: start - from + before.length, length })),
  };
}

// Begins after a space, if there is one near.
function startOf(line: string, match: number): number {
  if (match <= lead) return 0;
  const from = withoutHalf(line, match - lead);
  const space = line.indexOf(' ', from);
  return space >= 0 && space < match ? space + 1 : from;
}

/** Returns the position, or the one before it if it is inside a surrogate pair. */
const withoutHalf = (line: string, position: number): number =>
  /^[\udc00-\udfff]/.test(line.slice(position, position + 1)) ? position - 1 : position;
