import type { ChangeData } from 'react-diff-view';

/** The least similarity of two versions of a line: 0 for different ones, 1 for equal ones. */
const minSimilarity = 0.5;
/** More comparisons would keep the browser busy: the lines of a larger block are paired from its start. */
const maxComparisons = 2_500;
/** The part of a line that is compared, in characters. */
const maxCompared = 200;

interface Block {
  readonly removed: readonly ChangeData[];
  readonly added: readonly ChangeData[];
}

/** Two lines, by their positions among the removed and the added lines of a block. */
type Pair = readonly [removed: number, added: number];

/**
 * Orders the changes of a hunk for two columns: react-diff-view puts a removed line opposite the added line that follows
 * it. Similar lines become opposite, and the others from the start of their block.
 */
export function sideBySide(changes: readonly ChangeData[]): ChangeData[] {
  return blocksOf(changes).flatMap((block) => ('removed' in block ? zipped(block) : [block]));
}

/** Returns each removed line that has a similar added line, followed by that line. Other lines are left out. */
export function similarLines(changes: readonly ChangeData[]): ChangeData[] {
  return blocksOf(changes).flatMap((block) =>
    'removed' in block
      ? similarPairs(block).flatMap(([old, now]) => [...at(block.removed, old), ...at(block.added, now)])
      : [],
  );
}

const at = (list: readonly ChangeData[], index: number) => list.slice(index, index + 1);

/** Splits changes into unchanged lines, and blocks of neighbouring removed and added lines. */
function blocksOf(changes: readonly ChangeData[]): readonly (ChangeData | Block)[] {
  const found: (ChangeData | Block)[] = [];
  let block: { removed: ChangeData[]; added: ChangeData[] } | null = null;
  for (const change of changes) {
    if (change.type === 'normal') {
      block = null;
      found.push(change);
      continue;
    }
    if (block === null) {
      block = { removed: [], added: [] };
      found.push(block);
    }
    (change.type === 'delete' ? block.removed : block.added).push(change);
  }
  return found;
}

function zipped(block: Block): ChangeData[] {
  const { removed, added } = block;
  const rows: ChangeData[] = [];
  let [oldStart, newStart] = [0, 0];
  for (const [oldEnd, newEnd] of [...similarPairs(block), [removed.length, added.length] as const]) {
    const length = Math.max(oldEnd - oldStart, newEnd - newStart);
    for (let n = 0; n < length; n += 1) {
      if (oldStart + n < oldEnd) rows.push(...at(removed, oldStart + n));
      if (newStart + n < newEnd) rows.push(...at(added, newStart + n));
    }
    rows.push(...at(removed, oldEnd), ...at(added, newEnd));
    [oldStart, newStart] = [oldEnd + 1, newEnd + 1];
  }
  return rows;
}

/** Returns the pairs of similar lines in the order of both versions that are the most similar in sum. */
function similarPairs({ removed, added }: Block): readonly Pair[] {
  const [rows, columns] = [removed.length, added.length];
  if (rows * columns > maxComparisons) return [];
  const olds = removed.map(({ content }) => lineOf(content));
  const news = added.map(({ content }) => lineOf(content));
  const scores = olds.map((old) => news.map((now) => similarity(old, now)));
  const score = (old: number, now: number) => scores[old]?.[now] ?? 0;
  // The best sum for the lines from each position on.
  const best = Array.from({ length: rows + 1 }, () => new Array<number>(columns + 1).fill(0));
  const bestAt = (old: number, now: number) => best[old]?.[now] ?? 0;
  const ifPaired = (old: number, now: number) =>
    score(old, now) < minSimilarity ? -1 : score(old, now) + bestAt(old + 1, now + 1);
  for (let old = rows - 1; old >= 0; old -= 1) {
    for (let now = columns - 1; now >= 0; now -= 1) {
      const sum = Math.max(ifPaired(old, now), bestAt(old + 1, now), bestAt(old, now + 1));
      const row = best[old];
      if (row) row[now] = sum;
    }
  }
  const pairs: Pair[] = [];
  let [old, now] = [0, 0];
  while (old < rows && now < columns) {
    if (ifPaired(old, now) === bestAt(old, now)) pairs.push([old++, now++]);
    else if (bestAt(old + 1, now) === bestAt(old, now)) old += 1;
    else now += 1;
  }
  return pairs;
}

interface Line {
  readonly text: string;
  /** The number of times that each two neighbouring characters occur. */
  readonly pairs: ReadonlyMap<string, number>;
  readonly count: number;
}

function lineOf(content: string): Line {
  const text = content.trim().slice(0, maxCompared);
  const pairs = new Map<string, number>();
  for (let n = 0; n + 1 < text.length; n += 1) {
    const pair = text.slice(n, n + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return { text, pairs, count: Math.max(0, text.length - 1) };
}

/** The Sørensen–Dice coefficient of the neighbouring characters of two lines, without the space around them. */
function similarity(a: Line, b: Line): number {
  if (a.text === b.text) return 1;
  if (a.count + b.count === 0) return 0;
  let common = 0;
  for (const [pair, count] of a.pairs) common += Math.min(count, b.pairs.get(pair) ?? 0);
  return (2 * common) / (a.count + b.count);
}
