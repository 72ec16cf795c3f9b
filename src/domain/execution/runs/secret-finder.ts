import { minMaskedLength } from './masked-forms.ts';

/** Longer forms are looked for in pieces of this length, so that a part of one is seen too. */
export const pieceLength = 64;

/** A text that lies wholly inside a form is found from this length on: shorter ones are too often ordinary words. */
const minInside = 8;

/** A span of text: its first character, and the one after its last. */
export type Span = readonly [number, number];

// A long form is found by its pieces, the last of which overlaps the one before it.
function piecesOf(forms: Iterable<string>): Set<string> {
  const pieces = new Set<string>();
  for (const form of forms) {
    for (let from = 0; from < form.length - pieceLength; from += pieceLength) {
      pieces.add(form.slice(from, from + pieceLength));
    }
    pieces.add(form.slice(-pieceLength));
  }
  return pieces;
}

/** Pieces that begin alike, or a level deeper: by their next characters once they are many. */
interface Branch {
  readonly pieces: readonly string[];
  readonly next: ReadonlyMap<string, Branch> | null;
}

/** So few are tried one by one. */
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

/** How long the longest piece is that stands at this place; 0: none. Pieces are longest first. */
function lengthAt(text: string, index: number, branch: Branch, depth: number): number {
  const end = depth + minMaskedLength;
  const deeper = branch.next?.get(text.slice(index + depth, index + end));
  const length = deeper === undefined ? 0 : lengthAt(text, index, deeper, end);
  return length > 0 ? length : (branch.pieces.find((piece) => text.startsWith(piece, index))?.length ?? 0);
}

/** Finds the places of secrets. */
export interface Finder {
  /** Every place, with the longest piece of a secret there. */
  all(text: string): Span[];
  /**
   * The longest end of a piece at the start of a text, and the longest start of one before each of these indices. A text may
   * begin with the indentation of a line.
   */
  atBorders(text: string, ends: readonly number[]): Span[];
  /**
   * A text that is a part of a form, white space around it aside; null: it is not. A longer text than a piece has the border
   * of one, and so is found by `all` and `atBorders`.
   */
  inside(text: string): Span | null;
}

/** A {@link Finder} of these texts without line breaks, each of at least {@link minMaskedLength} characters. */
export function createFinder(forms: Iterable<string>): Finder {
  const all = [...forms];
  // Joined by what none of them has: one search looks into all.
  const joined = all.join('\n');
  const pieces = [...piecesOf(all)].sort((a, b) => b.length - a.length);
  const byStart = grouped(pieces, (piece) => piece.slice(0, minMaskedLength));
  const byEnd = grouped(pieces, (piece) => piece.slice(-minMaskedLength));
  const branches = new Map([...byStart].map(([start, same]) => [start, branchOf(same, minMaskedLength)]));
  // A number of the first characters tells for nearly every place of a text that no piece begins there.
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
