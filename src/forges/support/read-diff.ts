import type { DiffFile, DiffHunk } from '../interface/pull-requests.ts';

/** Maximum number of lines of the hunks of one diff that are kept. */
const maxLines = 200_000;
const maxFiles = 3_000;

/** A file of a diff as forges send it: its names, and its hunks as text. */
export interface DiffText {
  readonly path: string;
  /** Null: the file has no other name. */
  readonly oldPath: string | null;
  /** Null: binary, or too long for the forge. */
  readonly patch: string | null;
}

/** Reads the hunks of files. Files and lines beyond the limits are left out. */
export function readDiff(files: readonly DiffText[]): DiffFile[] {
  let left = maxLines;
  return files.slice(0, maxFiles).map(({ path, oldPath, patch }) => {
    const hunks = left <= 0 ? [] : readHunks((patch ?? '').split('\n'), 0).hunks;
    left -= hunks.reduce((sum, { marks }) => sum + marks.length, 0);
    return { path, oldPath: oldPath ?? path, hunks };
  });
}

/** Splits the output of `git diff` into files. Leaves out files whose names git quotes. */
export function splitDiff(text: string): DiffText[] {
  const lines = text.split('\n');
  const files: DiffText[] = [];
  for (let n = 0; n < lines.length && files.length < maxFiles; ) {
    if (!lines[n]?.startsWith('diff --git ')) {
      n += 1;
      continue;
    }
    let path: string | null = null;
    let oldPath: string | null = null;
    let start = n + 1;
    for (; start < lines.length && !/^(?:@@ |diff --git )/.test(lines[start] ?? ''); start++) {
      const line = (lines[start] ?? '').replace(/\t$/, '');
      if (line.startsWith('--- a/')) oldPath = line.slice(6);
      else if (line.startsWith('+++ b/')) path = line.slice(6);
    }
    const { end } = readHunks(lines, start);
    const name = path ?? oldPath;
    if (name !== null && !lines.slice(n, start).some((line) => /^(?:---|\+\+\+) "/.test(line)))
      files.push({ path: name, oldPath, patch: lines.slice(start, end).join('\n') });
    n = Math.max(end, start);
  }
  return files;
}

// A line of the content may look like a header, so the numbers of the hunk say where it ends.
function readHunks(lines: readonly string[], start: number): { readonly hunks: DiffHunk[]; readonly end: number } {
  const hunks: DiffHunk[] = [];
  let n = start;
  for (;;) {
    const [all, oldStart, oldLines = '1', newStart, newLines = '1'] =
      /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/.exec(lines[n] ?? '') ?? [];
    if (all === undefined) return { hunks, end: n };
    n += 1;
    const marks: string[] = [];
    for (let [old, fresh] = [Number(oldLines), Number(newLines)]; n < lines.length && old + fresh > 0; n++) {
      const mark = lines[n]?.[0] ?? ' ';
      if (mark === '\\') continue;
      if (!' +-'.includes(mark)) break;
      if (mark !== '+') old -= 1;
      if (mark !== '-') fresh -= 1;
      marks.push(mark);
    }
    if (lines[n]?.startsWith('\\')) n += 1;
    hunks.push({ oldStart: Number(oldStart), newStart: Number(newStart), marks: marks.join('') });
  }
}

/** The line of a diff that a comment is about. */
export interface DiffLine {
  readonly oldPath: string;
  /** The number of the same line on the other side; null: the line is on one side only. */
  readonly otherLine: number | null;
}

/** Finds a line that a diff shows; null if it does not show it. */
export function findDiffLine(
  files: readonly DiffFile[],
  { path, line, side }: { readonly path: string; readonly line: number; readonly side: 'old' | 'new' },
): DiffLine | null {
  for (const file of files) {
    if (file.path !== path) continue;
    for (const { oldStart, newStart, marks } of file.hunks) {
      let [old, fresh] = [oldStart, newStart];
      for (const mark of marks) {
        const isThere = mark === ' ' || mark === (side === 'old' ? '-' : '+');
        const otherLine = mark === ' ' ? (side === 'old' ? fresh : old) : null;
        if (isThere && line === (side === 'old' ? old : fresh)) return { oldPath: file.oldPath, otherLine };
        if (mark !== '+') old += 1;
        if (mark !== '-') fresh += 1;
      }
    }
  }
  return null;
}
