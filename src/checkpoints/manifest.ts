import { CheckpointError } from './driver.ts';

/** A segment that has chunks of a layer. */
export interface Segment {
  /** 32 hex digits. */
  readonly id: string;
  /** The bytes of its blocks in the file. */
  storedBytes: number;
  /** The bytes of the chunks in it, whether or not they are still needed. */
  rawBytes: number;
  /** The known blocks by offset. */
  readonly blocks: Map<number, Block>;
}

/** Chunks that are compressed and encrypted together: a record of a segment. */
export interface Block {
  readonly segment: Segment;
  readonly offset: number;
  /** The length of the record; 0 until it is written. */
  length: number;
  /** The length of the content. */
  rawLength: number;
}

/** A part of a file's content. */
export interface Chunk {
  /** Its identity (`CheckpointKeys.chunkIdOf`). */
  readonly id: string;
  readonly length: number;
  block: Block;
  /** The position in the block's content. */
  start: number;
}

/** The kinds of entries. */
export type EntryType = 'file' | 'directory' | 'link';

/** A file, a directory or a link of a layer. */
export interface Entry {
  readonly type: EntryType;
  /** The permission bits, with setuid, setgid and sticky. */
  readonly mode: number;
  /** Microseconds since 1970, from 1827 to 2112: `toMtime` and `fromMtime` convert it. */
  readonly mtime: number;
  /** The content of a file, in order. */
  readonly chunks: readonly Chunk[];
  /** The target of a link, one character for each byte; empty for others. */
  readonly target: string;
}

/** The layers of a content. */
export type Layer = 'files' | 'ignored';

/**
 * The entries of one layer, by path: a root such as `workspace`, or a path below, such as `workspace/src/main.ts`. A path has one character for
 * each byte (latin1), because names need not be UTF-8.
 */
export interface Manifest {
  readonly entries: Map<string, Entry>;
  /** The chunks of these entries, and earlier ones in the same segments, by id. */
  readonly chunks: Map<string, Chunk>;
  /** By id. */
  readonly segments: Map<string, Segment>;
}

/** A change of a manifest. */
export interface ManifestChange {
  /** Paths that are removed, with everything below them, before entries are added. */
  readonly removed: readonly string[];
  /** New entries, and those that replace others. */
  readonly entries: ReadonlyMap<string, Entry>;
  /** Chunks that moved to another segment, in addition to those of the entries. */
  readonly moved: readonly Chunk[];
}

/** Returns a manifest without entries. */
export function emptyManifest(): Manifest {
  return { entries: new Map(), chunks: new Map(), segments: new Map() };
}

/** Returns the error of a manifest that cannot be used. */
export function damagedManifest(problem: string): CheckpointError {
  return new CheckpointError('DAMAGED', `The manifest of a checkpoint ${problem}.`);
}

/** Returns the size of an entry's content. */
export function sizeOf(entry: Entry): number {
  let size = 0;
  for (const chunk of entry.chunks) size += chunk.length;
  return size;
}

/** Returns true for the path of a record of the service. */
export function isRecord(path: string): boolean {
  return path.startsWith('records/');
}

/** The latest time of an entry, in the year 2112, and the earliest one if negative: the difference of two times is an exact integer. */
const maxMtime = 2 ** 52 - 1;

/** Converts the `mtimeMs` of a file's status to the time of an entry. Agents set times of any year: the nearest one that an entry can have is used. */
export function toMtime(mtimeMs: number): number {
  return Math.max(-maxMtime, Math.min(maxMtime, Math.floor(mtimeMs * 1_000)));
}

/**
 * Converts the time of an entry to seconds for `utimes`. The system rounds down to nanoseconds, so half a microsecond is added: otherwise
 * the restored file could get the microsecond before. Whole seconds are exact.
 */
export function fromMtime(mtime: number): number {
  return (mtime % 1_000_000 === 0 ? mtime : mtime + 0.5) / 1_000_000;
}

/**
 * Applies a change to a manifest, in place. Chunks that the manifest already has keep their object, and get the position that the change
 * has. Throws CheckpointError if the change does not fit.
 */
export function applyChange(manifest: Manifest, change: ManifestChange): void {
  removePaths(manifest.entries, change.removed);
  for (const chunk of change.moved) internChunk(manifest, chunk);
  for (const [path, entry] of change.entries) {
    const { chunks } = entry;
    if (chunks.every((chunk) => manifest.chunks.get(chunk.id) === chunk)) manifest.entries.set(path, entry);
    else manifest.entries.set(path, { ...entry, chunks: chunks.map((chunk) => internChunk(manifest, chunk)) });
  }
}

/** Removes paths, with everything below those that are directories. */
export function removePaths(entries: Map<string, Entry>, removed: readonly string[]): void {
  const directories = new Set<string>();
  for (const path of removed) {
    if (entries.get(path)?.type === 'directory') directories.add(path);
    entries.delete(path);
  }
  if (directories.size === 0) return;
  for (const path of entries.keys()) {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      if (!directories.has(path.slice(0, end))) continue;
      entries.delete(path);
      break;
    }
  }
}

/** Returns the manifest's own object for a chunk, at the given position. */
function internChunk(manifest: Manifest, chunk: Chunk): Chunk {
  const known = manifest.chunks.get(chunk.id);
  if (known === chunk) return known;
  const block = internBlock(manifest, chunk.block);
  if (known === undefined) {
    const own = chunk.block === block ? chunk : { ...chunk, block };
    manifest.chunks.set(own.id, own);
    return own;
  }
  if (known.length !== chunk.length) throw damagedManifest('has a chunk with two lengths');
  known.block = block;
  known.start = chunk.start;
  return known;
}

function internBlock(manifest: Manifest, block: Block): Block {
  const { id } = block.segment;
  const segment = manifest.segments.get(id) ?? block.segment;
  manifest.segments.set(id, segment);
  const known = segment.blocks.get(block.offset);
  if (known !== undefined) {
    if (known.rawLength !== block.rawLength || known.length !== block.length) {
      throw damagedManifest('has a block with two lengths');
    }
    return known;
  }
  const own = block.segment === segment ? block : { ...block, segment };
  segment.blocks.set(own.offset, own);
  return own;
}

/** Returns the segments that the entries need, each with the bytes of chunks that are needed in it. */
export function liveSegments(manifest: Manifest): Map<Segment, number> {
  const live = new Map<Segment, number>();
  const seen = new Set<Chunk>();
  for (const { chunks } of manifest.entries.values()) {
    for (const chunk of chunks) {
      if (seen.has(chunk)) continue;
      seen.add(chunk);
      const { segment } = chunk.block;
      live.set(segment, (live.get(segment) ?? 0) + chunk.length);
    }
  }
  return live;
}
