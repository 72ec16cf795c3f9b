import type { FileChange, Hunk } from '../../../git/diff/file-change.ts';
import type { FindSpans } from '../runs/secret-spans.ts';

/**
 * Replaces each character of a secret in the lines of a change with an asterisk. The number and the first characters of the
 * lines stay. A secret of several lines is found in the old version and in the new one.
 */
export function maskLines(lines: readonly string[], findSpans: FindSpans | null): readonly string[] {
  if (findSpans === null || lines.length === 0) return lines;
  const masked = [...lines];
  for (const other of ['+', '-']) {
    const numbers = [...masked.keys()].filter((n) => masked[n]?.[0] !== other && masked[n]?.[0] !== '\\');
    const text = numbers.map((n) => masked[n]?.slice(1)).join('\n');
    const spans = findSpans(text, false);
    if (spans.length === 0) continue;
    const hidden = hide(text, spans).split('\n');
    for (const [at, n] of numbers.entries()) masked[n] = `${masked[n]?.[0] ?? ''}${hidden[at] ?? ''}`;
  }
  return masked;
}

/** Masks the secrets in the names of a file and in its hunks. */
export function maskFile(file: FileChange, findSpans: FindSpans | null): FileChange {
  if (findSpans === null) return file;
  const maskText = (text: string) => hide(text, findSpans(text, false));
  const { path, oldPath, hunks } = file;
  const maskHunk = (hunk: Hunk): Hunk => ({
    ...hunk,
    heading: hide(hunk.heading, findSpans(hunk.heading, true)),
    lines: maskLines(hunk.lines, findSpans),
  });
  return {
    ...file,
    path: maskText(path),
    oldPath: oldPath === null ? null : maskText(oldPath),
    hunks: hunks?.map(maskHunk) ?? null,
  };
}

function hide(text: string, spans: readonly (readonly [number, number])[]): string {
  if (spans.length === 0) return text;
  const units = text.split('');
  for (const [from, to] of spans)
    for (let n = from; n < to; n++) if (units[n] !== '\n' && units[n] !== '\r') units[n] = '*';
  return units.join('');
}

/** Masks the secrets in a patch. */
export function maskPatch(patch: Buffer, findSpans: FindSpans | null): Buffer {
  if (findSpans === null) return patch;
  const text = patch.toString('utf8');
  const lines = text.split('\n');
  const masked = maskLines(lines, findSpans);
  // Bytes that are not UTF-8 are only changed beside a secret.
  return masked.some((line, n) => line !== lines[n]) ? Buffer.from(masked.join('\n')) : patch;
}
