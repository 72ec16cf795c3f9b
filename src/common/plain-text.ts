/** Removes NUL and unpaired surrogates, which neither PostgreSQL nor UTF-8 can represent. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}

/** Truncates text to `max` characters; an ellipsis marks the cut. */
export function shorten(text: string, max: number): string {
  return storable(text.length <= max ? text : `${text.slice(0, max - 1)}…`);
}

const unprintable = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

/** Puts a name on one line of at most `max` characters: removes line breaks, other control characters and bidirectional marks. */
export function plainLine(text: string, max: number): string {
  return shorten(text, max).replaceAll(unprintable, ' ').trim();
}

/** Makes a text of others safe for a terminal: it loses all control characters but line breaks, and bidirectional marks. */
export function plainLines(text: string): string {
  return text
    .split('\n')
    .map((line) => line.replaceAll(unprintable, ' '))
    .join('\n');
}

/** Removes control characters other than line breaks and tabs, and bidirectional marks, from a text in Markdown. */
export function plainMarkdown(text: string): string {
  return storable(
    text.replaceAll(/\r\n?/g, '\n').replaceAll(unprintable, (found) => found.replaceAll(/[^\n\t]/gu, '')),
  );
}
