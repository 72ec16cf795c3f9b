import { scimError } from './dialect.ts';

/** The maximum length of a filter, in characters. */
const maxLength = 2_000;

/** Creates the refusal of a filter. */
export const invalidFilter = (message: string) => scimError('invalidFilter', message);

// No text can match a part of this in two ways, so the time is linear. The last group is whatever no other one takes.
const token = /\s*(?:([A-Za-z$][\w$:.-]*)|("(?:[^"\\]|\\.)*")|([()[\]])|(\.[A-Za-z$][\w$.-]*)|(\S))/sy;

/** Splits a filter into words, texts in quotation marks, brackets and names that begin with a dot. Throws invalidFilter. */
export function readTokens(filter: string): string[] {
  if (filter.length > maxLength) throw invalidFilter(`A filter must have at most ${maxLength} characters.`);
  const tokens: string[] = [];
  token.lastIndex = 0;
  for (let match = token.exec(filter); match !== null; match = token.exec(filter)) {
    const [, word, quoted, bracket, suffix, other] = match;
    if (other !== undefined) throw invalidFilter(`The filter has an unexpected ${JSON.stringify(other)}.`);
    tokens.push(word ?? quoted ?? bracket ?? suffix ?? '');
  }
  return tokens;
}

/** Returns a token as messages show it. */
export const shownToken = (text: string): string => (text === '' ? 'its end' : JSON.stringify(text.slice(0, 60)));
