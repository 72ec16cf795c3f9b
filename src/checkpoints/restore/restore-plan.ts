import type { Block, Entry } from '../manifest.ts';
import { damaged } from '../segment-format.ts';

/** Content of a block that belongs to a file. */
export interface Piece {
  readonly path: string;
  readonly entry: Entry;
  /** The part of the block's content. */
  readonly start: number;
  readonly length: number;
  /** The position in the file; null: it is the whole file. */
  readonly position: number | null;
}

/** Work that one thread does at a time. */
export type Unit = BlockUnit | EntryUnit;

/** Blocks of one segment, in order, with what they contain. */
export interface BlockUnit {
  /** The number of the segment. */
  readonly segment: number;
  readonly blocks: readonly { readonly block: Block; readonly pieces: readonly Piece[] }[];
  /** True if later units need the segment no more. */
  isLast: boolean;
}

/** Links and files without content. */
export interface EntryUnit {
  readonly segment: null;
  readonly entries: readonly [path: string, entry: Entry][];
}

/** The order in which a restore writes. Each thread computes the same plan. */
export interface RestorePlan {
  readonly units: readonly Unit[];
  /** Each directory before those in it. */
  readonly directories: readonly [path: string, entry: Entry][];
  /** The files that several units write. */
  readonly composed: readonly [path: string, entry: Entry][];
  readonly files: number;
  readonly bytes: number;
}

const unitBytes = 2 ** 22;
const unitEntries = 1_000;

/** Plans the restore of entries; `segments` has the numbers of the segments. Throws CheckpointError. */
export function planRestore(entries: ReadonlyMap<string, Entry>, segments: ReadonlyMap<string, number>): RestorePlan {
  const pieces = new Map<Block, Piece[]>();
  const simple: [string, Entry][] = [];
  const directories: [string, Entry][] = [];
  const composed: [string, Entry][] = [];
  let [files, bytes] = [0, 0];
  for (const item of entries) {
    const [path, entry] = item;
    if (entry.type === 'directory') directories.push(item);
    else files++;
    if (entry.type === 'directory') continue;
    if (entry.chunks.length === 0) simple.push(item);
    if (entry.chunks.length > 1) composed.push(item);
    let position = 0;
    for (const { block, start, length } of entry.chunks) {
      const own = pieces.get(block) ?? [];
      if (own.length === 0) pieces.set(block, own);
      own.push({ path, entry, start, length, position: entry.chunks.length > 1 ? position : null });
      position += length;
    }
    bytes += position;
  }
  directories.sort(([one], [other]) => (one < other ? -1 : 1));
  return { units: [...entryUnits(simple), ...blockUnits(pieces, segments)], directories, composed, files, bytes };
}

function entryUnits(entries: readonly [string, Entry][]): EntryUnit[] {
  return Array.from({ length: Math.ceil(entries.length / unitEntries) }, (_, n) => ({
    segment: null,
    entries: entries.slice(n * unitEntries, (n + 1) * unitEntries),
  }));
}

function blockUnits(pieces: ReadonlyMap<Block, Piece[]>, segments: ReadonlyMap<string, number>): BlockUnit[] {
  const numberOf = ({ segment: { id } }: Block) => {
    const number = segments.get(id);
    if (number === undefined) throw damaged(id, 'the checkpoint does not list it');
    return number;
  };
  const blocks = [...pieces.keys()].sort((a, b) => numberOf(a) - numberOf(b) || a.offset - b.offset);
  const units: BlockUnit[] = [];
  let open: { segment: number; blocks: BlockUnit['blocks'][number][]; isLast: boolean } | null = null;
  let [bytes, count] = [0, 0];
  for (const block of blocks) {
    const segment = numberOf(block);
    const own = pieces.get(block) as Piece[];
    if (open === null || open.segment !== segment || bytes > unitBytes || count > unitEntries) {
      if (open !== null) open.isLast = open.segment !== segment;
      open = { segment, blocks: [], isLast: true };
      units.push(open);
      [bytes, count] = [0, 0];
    }
    open.blocks.push({ block, pieces: own });
    bytes += block.rawLength;
    count += own.length;
  }
  return units;
}
