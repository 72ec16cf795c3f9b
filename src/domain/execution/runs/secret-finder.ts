import { minMaskedLength } from './masked-forms.ts';

/** Longer forms are searched in pieces of this length, so that a part of one is found too. */
export const pieceLength = 64;

/** Minimum length of a text that is found as a part of a form: shorter texts are often ordinary words. */
const minInside = 8;

/** A span of text: the index of its first character, and the index after its last. */
export type Span = readonly [number, number];

/** Returns the pieces by which long forms are found; the last piece of a form overlaps the one before it. */
export function piecesOf(forms: Iterable<string>): Set<string> {
  const pieces = new Set<string>();
  for (const form of forms) {
    for (let from = 0; from < form.length - pieceLength; from += pieceLength) {
      pieces.add(form.slice(from, from + pieceLength));
    }
    pieces.add(form.slice(-pieceLength));
  }
  return pieces;
}

/** A trie of pieces with a common beginning: many pieces are split by their next characters. */
interface Branch {
  readonly pieces: readonly string[];
  readonly next: ReadonlyMap<string, Branch> | null;
}

/** Up to this number, pieces are tried one by one. */
const fewPieces = 8;

function branchOf(pieces: readonly string[], depth: number): Branch {
  if (pieces.length <= fewPieces) return { pieces, next: null };
  const end = depth + minMaskedLength;
  const longer = grouped(
    pieces.filter((piece) => piece.length >= end),
    (piece) => piece.slice(depth, end),
  );
  const next = new Map([...longer].map(([key, same]) => [key, branchOf(same, end)]));
  return { pieces: pieces.filter((piece) => piece.length < end), next };
}

/** Returns the length of the longest piece at this index; 0: none. Pieces are sorted by length, longest first. */
function lengthAt(text: string, index: number, branch: Branch, depth: number): number {
  const end = depth + minMaskedLength;
  const deeper = branch.next?.get(text.slice(index + depth, index + end));
  const length = deeper === undefined ? 0 : lengthAt(text, index, deeper, end);
  return length > 0 ? length : (branch.pieces.find((piece) => text.startsWith(piece, index))?.length ?? 0);
}

/** Finds secrets in text. */
export interface Finder {
  /** Returns every occurrence, each with the longest piece of a secret there. */
  all(text: string): Span[];
  /**
   * Returns the longest end of a piece at the start of a text, and the longest start of one before each of these
   * indices. A text may begin with the indentation of a line.
   */
  atBorders(text: string, ends: readonly number[]): Span[];
  /**
   * Returns the span of a text that is a part of a form, without white space around it; null: it is not. A text that is
   * longer than a piece contains the border of one, so `all` and `atBorders` find it.
   */
  inside(text: string): Span | null;
}

/**
 * Creates a {@link Finder} of these texts without line breaks, each with at least {@link minMaskedLength} characters.
 */
export function createFinder(forms: Iterable<string>): Finder {
  const all = [...forms];
  // Joined by a character that none of them contains: one search covers all.
  const joined = all.join('\n');
  const pieces = [...piecesOf(all)].sort((a, b) => b.length - a.length);
  const byStart = grouped(pieces, (piece) => piece.slice(0, minMaskedLength));
  const byEnd = grouped(pieces, (piece) => piece.slice(-minMaskedLength));
  const branches = new Map([...byStart].map(([start, same]) => [start, branchOf(same, minMaskedLength)]));
  // A hash of the first characters excludes nearly every index of a text at which no piece begins.
  const shift = 32 - Math.min(22, 5 + Math.ceil(Math.log2(branches.size + 1)));
  const isStart = new Uint8Array(2 ** (32 - shift));
  for (const start of branches.keys()) isStart[hashAt(start, 0) >>> shift] = 1;

  return {
    all(text) {
      const spans: Span[] = [];
      for (let index = 0; index + minMaskedLength <= text.length; index++) {
        if (isStart[hashAt(text, index) >>> shift] === 0) continue;
        const branch = branches.get(text.slice(index, index + minMaskedLength));
        const length = branch ? lengthAt(text, index, branch, minMaskedLength) : 0;
        if (length > 0) spans.push([index, index + length]);
      }
      return spans;
    },
    atBorders(text, ends) {
      const spans: Span[] = [];
      for (const from of new Set([0, indentationOf(text)])) {
        for (let to = from + minMaskedLength; to <= Math.min(from + pieceLength, text.length); to++) {
          const head = text.slice(from, to);
          if (byEnd.get(head.slice(-minMaskedLength))?.some((piece) => piece.endsWith(head))) spans.push([from, to]);
        }
      }
      for (const end of ends) {
        for (let from = Math.max(0, end - pieceLength); from <= end - minMaskedLength; from++) {
          const tail = text.slice(from, end);
          const same = byStart.get(tail.slice(0, minMaskedLength));
          if (same?.some((piece) => piece.startsWith(tail))) spans.push([from, end]);
        }
      }
      return spans;
    },
    inside(text) {
      const [from, to] = [indentationOf(text), text.trimEnd().length];
      const length = to - from;
      const isFound = length >= minInside && length <= pieceLength && joined.includes(text.slice(from, to));
      return isFound ? [from, to] : null;
    },
  };
}

const indentationOf = (text: string) => text.length - text.trimStart().length;

function hashAt(text: string, index: number): number {
  let hash = 0;
  for (let n = 0; n < minMaskedLength; n++) hash = (Math.imul(hash, 31) + text.charCodeAt(index + n)) | 0;
  return Math.imul(hash, 0x9e3779b1);
}

function grouped(pieces: readonly string[], keyOf: (piece: string) => string): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const piece of pieces) {
    const key = keyOf(piece);
    const group = groups.get(key);
    if (group) group.push(piece);
    else groups.set(key, [piece]);
  }
  return groups;
}
