/**
 * The gaps that are removed from texts and forms before they are compared: line breaks with the indentation after them,
 * which encoders, terminals and mail insert into long lines; or all white space, for forms that contain some: a line
 * break may replace a space, or swallow one beside it.
 */
export const textGaps: readonly [RegExp, RegExp] = [/[\r\n]\s*/g, /\s+/g];

/**
 * Line breaks, also as in JSON inside JSON, with the indentation and the mark of a diff or a quotation after them. The
 * number of backslashes is bounded, so that a match takes linear time.
 */
export const markedGaps = /(?:[\r\n]|\\{1,4}[rn])(?:\s|\\{1,4}[rn])*(?:[+>-] ?)?/g;

/** Cheap test for the gaps that only {@link markedGaps} finds. */
export const hasMarkedGaps = /\\[rn]|[\r\n][ \t]*[+>-]/;

/**
 * All white space, also escaped as in programming languages or after the backslash of a continued line; without diff
 * marks, since a line of base64 may begin with one of them.
 */
export const escapedGaps = /(?:\s|\\{1,4}[\r\nrnt])+/g;

/** Cheap test for the gaps that only {@link escapedGaps} finds. */
export const hasEscapedGaps = /\\[\r\nrnt]/;

/** Removes the backslashes at the end of a text, which may belong to an escaped line break. */
export const withoutOpenMark = (text: string): string => text.replace(/\\{1,4}$/, '');

/** A text without its gaps. */
export interface Projection {
  /** The remaining text. */
  readonly text: string;
  /** Returns the index of a character in the original. */
  readonly at: (index: number) => number;
}

/** Removes the gaps of a text. `gaps` is a global expression. */
export function project(text: string, gaps: RegExp): Projection {
  if (text.search(gaps) < 0) return { text, at: (index) => index };
  const ranges: [from: number, to: number][] = [];
  let last = 0;
  for (const gap of text.matchAll(gaps)) {
    if (gap.index > last) ranges.push([last, gap.index]);
    last = gap.index + gap[0].length;
  }
  if (last < text.length) ranges.push([last, text.length]);
  const starts = new Int32Array(ranges.length);
  let length = 0;
  ranges.forEach(([from, to], n) => {
    starts[n] = length;
    length += to - from;
  });
  const at = (index: number) => {
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] as number) <= index) low = middle;
      else high = middle - 1;
    }
    return (ranges[low]?.[0] ?? 0) + index - (starts[low] ?? 0);
  };
  return { text: ranges.map(([from, to]) => text.slice(from, to)).join(''), at };
}
