import { plainLine, shorten, storable } from '../../common/plain-text.ts';

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
export const brief = (text: string): string => shorten(text, maxNameCharacters);

/** Puts a name on one line: removes line breaks, other control characters and bidirectional marks. */
export const oneLine = (text: string): string => plainLine(text, maxNameCharacters);
