import { getChangeKey } from 'react-diff-view';
import { type CommentedLines, maxQuoted } from '../comments/line-comment.ts';
import { type Hunk, noLineFeed, toHunkData } from './diff-lines.ts';

/** A line of a diff, with its numbers in both versions. */
export interface FileLine {
  /** The key of react-diff-view. */
  readonly key: string;
  readonly hunk: number;
  /** Null: the version does not have the line. */
  readonly old: number | null;
  readonly new: number | null;
  /** As the diff shows it. */
  readonly text: string;
}

/** Lines of one version that follow each other in a hunk. */
export type LineRange = Pick<CommentedLines, 'side' | 'start' | 'end' | 'quoted'>;

/** Returns the lines of all hunks. */
export function fileLines(hunks: readonly Hunk[]): readonly FileLine[] {
  return toHunkData(hunks).flatMap(({ changes }, hunk) =>
    changes.map((change) => ({
      key: getChangeKey(change),
      hunk,
      old: change.type === 'normal' ? change.oldLineNumber : change.type === 'delete' ? change.lineNumber : null,
      new: change.type === 'normal' ? change.newLineNumber : change.type === 'insert' ? change.lineNumber : null,
      text: change.content.endsWith(noLineFeed) ? change.content.slice(0, -noLineFeed.length) : change.content,
    })),
  );
}

/** Returns the range between two lines; null if they are in different hunks, or no version has both. */
export function rangeBetween(lines: readonly FileLine[], from: string, to: string): LineRange | null {
  const a = lines.find(({ key }) => key === from);
  const b = lines.find(({ key }) => key === to);
  if (!a || !b || a.hunk !== b.hunk) return null;
  const side = a.new === null || b.new === null ? 'old' : 'new';
  const [first, last] = [a[side], b[side]];
  if (first === null || last === null) return null;
  const [start, end] = [Math.min(first, last), Math.max(first, last)];
  const quoted = linesIn(lines, { side, start, end }).slice(0, maxQuoted);
  return { side, start, end, quoted: quoted.map(({ text }) => text) };
}

/** Returns the lines of a range. */
export function linesIn(
  lines: readonly FileLine[],
  { side, start, end }: Pick<CommentedLines, 'side' | 'start' | 'end'>,
): readonly FileLine[] {
  return lines.filter((line) => {
    const number = line[side];
    return number !== null && number >= start && number <= end;
  });
}

/** Finds the quoted lines of a comment in a diff: at their place, or at the nearest other one. Null: they are not there. */
export function findLines(
  lines: readonly FileLine[],
  { side, start, end, quoted }: LineRange,
): { readonly start: number; readonly end: number } | null {
  const own = lines.filter((line) => line[side] !== null);
  const length = end - start;
  let nearest: number | null = null;
  for (const [index, line] of own.entries()) {
    if (line.text !== quoted[0] || own[index + length]?.hunk !== line.hunk) continue;
    if (!quoted.every((text, n) => own[index + n]?.text === text)) continue;
    const number = line[side] as number;
    if (nearest === null || Math.abs(number - start) < Math.abs(nearest - start)) nearest = number;
  }
  return nearest === null ? null : { start: nearest, end: nearest + length };
}
