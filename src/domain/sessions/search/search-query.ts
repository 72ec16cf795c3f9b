import { z } from 'zod';
import { refuse } from '../../../common/errors.ts';
import { parseInput, text } from '../../input.ts';

/** The limits of the text of a search. */
export const searchQuerySchema = z.object({ query: text('query', { max: 300, isBlankRefused: true }) });

/** Maximum number of words of a search. */
const maxWords = 20;

/** Words that follow each other, in lower case. `isPrefix`: the last of them may be the beginning of a word. */
export interface SearchTerm {
  readonly words: readonly string[];
  readonly isPrefix: boolean;
}

/** A search: its text for the function `session_words_query` of the database, and the terms that it looks for. */
export interface SearchQuery {
  readonly text: string;
  readonly terms: readonly SearchTerm[];
}

/** Matches each word of a text. The database finds nearly the same ones: those of `session_words`. */
export const wordPattern = /[\p{L}\p{N}\p{M}]+/gu;

const termPattern = /(-*)(?:"([^"]*)"?|([^\s"]+))/gu;

interface Part extends SearchTerm {
  readonly isExcluded: boolean;
}

/**
 * Reads a search as search engines do: all words must be found, `or` separates alternatives, quotes keep words together, and a
 * minus sign excludes a word. A word without quotes also finds longer words that begin with it. Words that punctuation joins,
 * as in `src/log.ts`, must follow each other. Throws INVALID_INPUT for a search that is too long, has more than
 * 20 words, or has an alternative without a word to look for.
 */
export function parseSearchQuery(value: string): SearchQuery {
  const { query } = parseInput(searchQuerySchema, { query: value });
  const alternatives: Part[][] = [[]];
  for (const [, minus, quoted, plain] of query.matchAll(termPattern)) {
    if (plain?.toLowerCase() === 'or' && minus === '') {
      alternatives.push([]);
      continue;
    }
    const isExcluded = minus !== '';
    const words = (quoted ?? plain ?? '').toLowerCase().match(wordPattern) ?? [];
    if (words.length > 0)
      alternatives.at(-1)?.push({ words, isExcluded, isPrefix: plain !== undefined && !isExcluded });
  }
  const parts = alternatives.flat();
  const count = parts.reduce((sum, { words }) => sum + words.length, 0);
  if (count > maxWords) throw refuse(['query'], `"query" must have at most ${maxWords} words, but has ${count}.`);
  if (!alternatives.every((all) => all.some(({ isExcluded }) => !isExcluded))) {
    throw refuse(['query'], '"query" must have a search word before and after each "or".');
  }
  return {
    text: alternatives.map((all) => `(${all.map(writePart).join(' & ')})`).join(' | '),
    terms: parts.filter(({ isExcluded }) => !isExcluded),
  };
}

function writePart({ words, isExcluded, isPrefix }: Part): string {
  const written = words.map((word, n) => writeWord(word, isPrefix && n === words.length - 1)).join(' <-> ');
  return `${isExcluded ? '!' : ''}(${written})`;
}

function writeWord(word: string, isPrefix: boolean): string {
  const forms = casesOf(word).map((form) => `'${form}'${isPrefix ? ':*' : ''}`);
  return forms.length === 1 ? `${forms[0]}` : `(${forms.join(' | ')})`;
}

// PostgreSQL knows the case of non-ASCII letters in some locales only. In the others, the words of a text keep it.
function casesOf(word: string): string[] {
  if (/^[\0-\x7f]*$/.test(word)) return [word];
  const [first = '', ...rest] = word;
  const forms = [word, first.toUpperCase() + rest.join(''), word.toUpperCase()];
  return [...new Set(forms.map((form) => form.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())))];
}
