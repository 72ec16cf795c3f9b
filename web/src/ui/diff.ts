/** A line of a diff; `null`: lines omitted between two changes. */
export interface DiffLine {
  readonly type: 'same' | 'added' | 'removed' | 'gap';
  readonly text: string;
}

/** The number of unchanged lines shown around a change. */
const around = 3;
/** Beyond this number of line pairs, the texts are shown one after the other: comparing them would block the page. */
const maxPairs = 500_000;
/** The limit for all files of one tool call: beyond it, the row shows no line counts. */
const maxPairsOfCall = 1_000_000;

/** The old and the new text of a file or a field. `oldText` null: a new file. */
export interface FileChange {
  readonly oldText?: string | null | undefined;
  readonly newText: string;
}

const cachedLines = new WeakMap<FileChange, readonly DiffLine[]>();

/** The lines of a diff, with context. Computed once per object. */
export function linesOf(change: FileChange): readonly DiffLine[] {
  const lines = cachedLines.get(change) ?? diffLines(change.oldText, change.newText);
  cachedLines.set(change, lines);
  return lines;
}

/** The number of added and removed lines; null if counting would take too long. */
export function sizeOf(changes: readonly FileChange[]): { readonly added: number; readonly removed: number } | null {
  const count = (text: string | null | undefined) => (text ? text.split('\n').length : 0);
  const pairs = changes.reduce((sum, { oldText, newText }) => sum + count(oldText) * count(newText), 0);
  if (pairs > maxPairsOfCall) return null;
  const lines = changes.flatMap(linesOf);
  const of = (type: DiffLine['type']) => lines.filter((line) => line.type === type).length;
  return { added: of('added'), removed: of('removed') };
}

/** The diff of two texts. `before` null: a new file. */
function diffLines(before: string | null | undefined, after: string): readonly DiffLine[] {
  const a = before ? before.split('\n') : [];
  const b = after.split('\n');
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const same = (text: string): DiffLine => ({ type: 'same', text });
  return shorten([
    ...a.slice(0, head).map(same),
    ...compare(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...a.slice(a.length - tail).map(same),
  ]);
}

// The longest common subsequence. The input is small, since common start and end lines were removed before.
function compare(a: readonly string[], b: readonly string[]): DiffLine[] {
  const removed = (text: string): DiffLine => ({ type: 'removed', text });
  const added = (text: string): DiffLine => ({ type: 'added', text });
  if (a.length * b.length > maxPairs) return [...a.map(removed), ...b.map(added)];
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number) => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ type: 'same', text: a[i] as string });
      i++;
      j++;
    } else if (j >= b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1))) lines.push(removed(a[i++] as string));
    else lines.push(added(b[j++] as string));
  }
  return lines;
}

function shorten(lines: readonly DiffLine[]): readonly DiffLine[] {
  const isNear = new Array<boolean>(lines.length).fill(false);
  lines.forEach(({ type }, index) => {
    if (type === 'same') return;
    for (let n = Math.max(0, index - around); n <= Math.min(lines.length - 1, index + around); n++) isNear[n] = true;
  });
  const shortened: DiffLine[] = [];
  lines.forEach((line, index) => {
    if (isNear[index]) shortened.push(line);
    else if (shortened.at(-1)?.type !== 'gap') shortened.push({ type: 'gap', text: '⋯' });
  });
  return shortened;
}
