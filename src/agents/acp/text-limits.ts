/** The maximum length of a tool's output, and of each side of a diff. */
export const maxOutputCharacters = 16_000;
/** The maximum length of a title, a path or a step of a plan. */
const maxNameCharacters = 2_000;

/** Truncates text of an agent that is not a message. */
export function truncate(text: string, max: number = maxOutputCharacters): string {
  if (text.length <= max) return storable(text);
  return storable(`${text.slice(0, max)}\n… (${text.length - max} more characters are not kept)`);
}

/** Truncates a name. */
export function brief(text: string): string {
  return storable(text.length <= maxNameCharacters ? text : `${text.slice(0, maxNameCharacters - 1)}…`);
}

/** Puts a name on one line: removes line breaks, other control characters and bidirectional marks. */
export function oneLine(text: string): string {
  return brief(text)
    .replaceAll(/[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .trim();
}

/** Removes NUL and unpaired surrogates, which neither PostgreSQL nor UTF-8 can represent. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}
