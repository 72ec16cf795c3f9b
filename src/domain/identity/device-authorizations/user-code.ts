import { randomInt } from 'node:crypto';

// Consonants alone, as RFC 8628 recommends: no digits that look like letters, and no words.
const alphabet = 'BCDFGHJKLMNPQRSTVWXZ';
const length = 8;
const pattern = new RegExp(`^[${alphabet}]{${length}}$`);

/** Creates a code that a person reads in one place and enters in another: 8 consonants, with 34.5 random bits. */
export const newUserCode = (): string =>
  Array.from({ length }, () => alphabet.charAt(randomInt(alphabet.length))).join('');

/** Formats a code for people, such as `WDJB-MJHT`. */
export const showUserCode = (code: string): string => `${code.slice(0, length / 2)}-${code.slice(length / 2)}`;

/** Reads a code that a person entered, in either case and with any separators. Null if it cannot be one. */
export function readUserCode(text: string): string | null {
  const code = text.replace(/[\s\p{Dash_Punctuation}]/gu, '').toUpperCase();
  return pattern.test(code) ? code : null;
}
