/** The most that is kept of a tool's output, and of each side of a diff. */
export const maxOutputCharacters = 16_000;
/** The most that is kept of a title, a path or a step of a plan. */
const maxNameCharacters = 2_000;

/** Text of an agent that is not a message, no longer than it is of use. */
export function truncate(text: string, max: number = maxOutputCharacters): string {
  if (text.length <= max) return storable(text);
  return storable(`${text.slice(0, max)}\n… (${text.length - max} more characters are not kept)`);
}

/** A name of something. */
export function brief(text: string): string {
  return storable(text.length <= maxNameCharacters ? text : `${text.slice(0, maxNameCharacters - 1)}…`);
}

/**
 * A name on one line: without line breaks and other control characters, and without marks that change the direction of the
 * text after them.
 */
export function oneLine(text: string): string {
  return brief(text)
    .replaceAll(/[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .trim();
}

/** Text without NUL and halves of surrogate pairs, which neither PostgreSQL nor UTF-8 can hold. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}
