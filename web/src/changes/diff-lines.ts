import type { ChangeData, HunkData } from 'react-diff-view';
import { diffLines as texts } from '../texts/changes.ts';
import { writeNumber } from '../ui/number.ts';
import { visible } from '../ui/visible.ts';

/** A part of a file that differs, as the API has it. */
export interface Hunk {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  readonly heading: string;
  readonly lines: readonly string[];
}

/** Longer lines are cut: a browser takes seconds to lay out a line of a megabyte. */
const maxLineLength = 2_000;

/** Follows a last line without a line feed, as in the output of git. */
export const noLineFeed = texts.noNewline;

/** Lines of a file that are shown at first, and more of them by each click. */
export const linesAtOnce = 1_000;

/** The number of lines of all hunks. */
export const countLines = (hunks: readonly Hunk[]): number => hunks.reduce((sum, { lines }) => sum + lines.length, 0);

/** Returns the beginning of the hunks with this number of lines. The last hunk may be cut. */
export function firstLines(hunks: readonly Hunk[], count: number): readonly Hunk[] {
  const found: Hunk[] = [];
  let left = count;
  for (const hunk of hunks) {
    if (left <= 0) break;
    found.push(hunk.lines.length <= left ? hunk : { ...hunk, lines: hunk.lines.slice(0, left) });
    left -= hunk.lines.length;
  }
  return found;
}

// If all lines end with CR LF, the CR is left out. Otherwise it can be the change.
const hasCrlf = ({ lines }: Hunk) => lines.every((line) => line.startsWith('\\') || line.endsWith('\r'));

// The line without its sign.
function cutLine(line: string, isCrlf: boolean): string {
  const text = isCrlf && line.endsWith('\r') ? line.slice(1, -1) : line.slice(1);
  const carriage = text.replaceAll('\r', '[CR]');
  if (carriage.length <= maxLineLength) return carriage;
  const more = carriage.length - maxLineLength;
  return texts.moreCharacters({ start: carriage.slice(0, maxLineLength), count: writeNumber(more) });
}

/** Returns the numbers of the first lines of both versions. The start of an empty range is the line before it. */
export function firstNumbers({ oldStart, oldLines, newStart, newLines }: Hunk): { old: number; now: number } {
  return { old: oldLines === 0 ? oldStart + 1 : oldStart, now: newLines === 0 ? newStart + 1 : newStart };
}

/**
 * Converts hunks to those of react-diff-view. `show` converts the text of a line; without it, characters that change the
 * direction of text or are invisible become their numbers.
 */
export function toHunkData(hunks: readonly Hunk[], show: (text: string) => string = visible): HunkData[] {
  return hunks.map((hunk) => {
    const { oldStart, oldLines, newStart, newLines, heading, lines } = hunk;
    const isCrlf = hasCrlf(hunk);
    let { old, now } = firstNumbers(hunk);
    const changes: ChangeData[] = [];
    for (const line of lines) {
      const sign = line[0];
      if (sign === '\\') {
        const last = changes.at(-1);
        if (last) last.content += noLineFeed;
        continue;
      }
      const content = show(cutLine(line, isCrlf));
      if (sign === '+') changes.push({ type: 'insert', content, lineNumber: now++, isInsert: true });
      else if (sign === '-') changes.push({ type: 'delete', content, lineNumber: old++, isDelete: true });
      else changes.push({ type: 'normal', content, oldLineNumber: old++, newLineNumber: now++, isNormal: true });
    }
    return { content: visible(heading), oldStart, oldLines, newStart, newLines, changes };
  });
}

/** The language of a file for highlight.js, by its name: its extension, or its name for a file without one. */
export function languageOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  const dot = name.lastIndexOf('.');
  return dot < 0 ? name : name.slice(dot + 1);
}
