/** A part of a text that a search matched, in UTF-16 code units. */
export interface TextRange {
  readonly start: number;
  readonly length: number;
}

/** Returns the matched parts of a text. */
export const matchedParts = (text: string, ranges: readonly TextRange[]): string[] =>
  ranges.map(({ start, length }) => text.slice(start, start + length));
