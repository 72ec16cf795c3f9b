import type { CheckpointKeys } from '../checkpoint-keys.ts';
import type { LayerContent, MissingPart, NewSegment } from '../driver.ts';
import {
  applyChange,
  type Block,
  type Chunk,
  type Entry,
  type Layer,
  liveSegments,
  type Manifest,
  type ManifestChange,
  removePaths,
  type Segment,
} from '../manifest.ts';
import { encodeManifest } from '../manifest-format.ts';
import { createSegmentWriter, type SegmentWriter } from '../segment-writer.ts';
import type { Totals } from './scan-changes.ts';

/** The longest chain of changes: a restore reads all of them. */
const maxChanges = 32;

/** Segments that are compacted when there are too many of them: small ones, and those of which little is needed. */
const compaction = { maxSegments: 48, keptSegments: 16, smallBytes: 2 ** 20, liveShare: 0.3, maxBytes: 2 ** 25 };

/** The last committed state of a layer, in memory. */
export interface LayerState {
  readonly manifest: Manifest;
  content: LayerContent | null;
  /** The changes since the complete manifest; null: unknown, because the manifest was read from segments. */
  since: ChangesSince | null;
}

/** The changes since a complete manifest. */
interface ChangesSince {
  readonly removed: Set<string>;
  readonly touched: Set<string>;
  /** Ids of chunks that moved to another segment. */
  readonly moved: Set<string>;
}

/** Options of {@link LayerSave}. */
export interface LayerSaveOptions {
  readonly layer: Layer;
  readonly state: LayerState;
  readonly keys: CheckpointKeys;
  readonly spoolDir: string;
  /** Finds a chunk of the other layer. */
  readonly findElsewhere: (id: string) => Chunk | undefined;
}

/** Reads the chunk of a file again, to move it to a new segment; null: the file has changed. */
export type ReadAgain = (path: string, position: number, chunk: Chunk) => Promise<Buffer | null>;

/** A save of one layer: collects its new chunks and writes its manifest. */
export class LayerSave {
  readonly #options: LayerSaveOptions;
  readonly #fresh = new Map<string, Chunk>();
  readonly #borrowedSegments = new Map<string, Segment>();
  #writer: SegmentWriter | null = null;
  #commit: () => void = () => undefined;

  constructor(options: LayerSaveOptions) {
    this.#options = options;
  }

  /** Stores content if it is new. Copies it. */
  store(content: Buffer): Chunk {
    const { state, keys } = this.#options;
    const id = keys.chunkIdOf(content);
    return this.find(id) ?? state.manifest.chunks.get(id) ?? this.#borrow(id) ?? this.#add(id, content);
  }

  /** Finds a chunk that this save stored. */
  find(id: string): Chunk | undefined {
    return this.#fresh.get(id);
  }

  #add(id: string, content: Buffer): Chunk {
    const { spoolDir, keys } = this.#options;
    this.#writer ??= createSegmentWriter({ spoolDir, keys });
    const chunk = this.#writer.add(id, content);
    this.#fresh.set(id, chunk);
    return chunk;
  }

  // Each manifest has objects of its own, because a compaction of one layer does not move the chunks of the other.
  #borrow(id: string): Chunk | undefined {
    const found = this.#options.findElsewhere(id);
    if (found === undefined) return undefined;
    const { segment } = found.block;
    let own = this.#borrowedSegments.get(segment.id);
    if (own === undefined) {
      own = { ...segment, blocks: new Map() };
      this.#borrowedSegments.set(segment.id, own);
    }
    let block: Block | undefined = own.blocks.get(found.block.offset);
    if (block === undefined) {
      block = { ...found.block, segment: own };
      own.blocks.set(block.offset, block);
    }
    const chunk = { ...found, block };
    this.#fresh.set(id, chunk);
    return chunk;
  }

  /**
   * Writes the changes of the layer, which may be none. Returns its new content, with segments to store.
   */
  async finish(found: {
    readonly removed: readonly string[];
    readonly entries: Map<string, Entry>;
    readonly totals: Totals;
    readonly missing: readonly MissingPart[];
    readonly readAgain: ReadAgain;
  }): Promise<{ content: LayerContent; segments: NewSegment[] }> {
    const { state, layer, spoolDir, keys } = this.#options;
    const { content: last, manifest } = state;
    const counts = { files: found.totals.files, bytes: found.totals.bytes, missing: found.missing };
    if (last !== null && found.removed.length === 0 && found.entries.size === 0) {
      const content = { ...last, ...counts };
      this.#commit = () => {
        state.content = content;
      };
      return { content, segments: [] };
    }
    const entries = new Map(manifest.entries);
    removePaths(entries, found.removed);
    for (const [path, entry] of found.entries) entries.set(path, entry);
    const live = liveSegments({ ...manifest, entries });
    const moved = last === null ? new Map<string, Chunk>() : await this.#compact(entries, live, last, found.readAgain);
    for (const [path, entry] of found.entries) found.entries.set(path, withMoved(entry, moved));
    const change = { removed: found.removed, entries: found.entries, moved: [...moved.values()] };
    const { base, written, isComplete, chain } = this.#chooseChange(change, entries, moved);
    this.#writer ??= createSegmentWriter({ spoolDir, keys });
    const segments = this.#writer.finish(() => encodeManifest({ layer, base, change: written }));
    const manifestId = segments.at(-1)?.id as string;
    const ids = [...chain, manifestId];
    const needed = new Set([...segmentIds(entries, moved), ...ids]);
    const content: LayerContent = { manifest: ids, segments: [...needed], ...counts };
    this.#commit = () => {
      applyChange(manifest, change);
      prune(manifest, needed);
      state.content = content;
      state.since = sinceAfter(state.since, change, isComplete);
    };
    return { content, segments };
  }

  /** Makes the state of this save the last one. */
  commit(): void {
    this.#commit();
  }

  /** Deletes what was written. */
  discard(): void {
    this.#writer?.discard();
  }

  /** Writes the chunks that are needed of small and mostly dead segments again, if there are too many of these. */
  async #compact(
    entries: ReadonlyMap<string, Entry>,
    live: ReadonlyMap<Segment, number>,
    last: LayerContent,
    readAgain: ReadAgain,
  ): Promise<Map<string, Chunk>> {
    const moved = new Map<string, Chunk>();
    const committed = new Set(last.segments);
    const poor = [...live]
      .filter(([segment, bytes]) => committed.has(segment.id) && isPoor(segment, bytes))
      .sort((a, b) => a[1] - b[1]);
    if (poor.length <= compaction.maxSegments) return moved;
    const leaving = new Set<Segment>();
    let bytes = 0;
    for (const [segment, needed] of poor.slice(0, poor.length - compaction.keptSegments)) {
      bytes += needed;
      if (bytes > compaction.maxBytes) break;
      leaving.add(segment);
    }
    for (const [path, { chunks }] of entries) {
      let position = 0;
      for (const chunk of chunks) {
        if (leaving.has(chunk.block.segment) && !moved.has(chunk.id)) {
          const content = await readAgain(path, position, chunk);
          const isSame = content !== null && this.#options.keys.chunkIdOf(content) === chunk.id;
          if (isSame) moved.set(chunk.id, this.#add(chunk.id, content));
        }
        position += chunk.length;
      }
    }
    return moved;
  }

  /** Chooses between a change of the last manifest, of the last complete one, and a complete one. */
  #chooseChange(change: ManifestChange, entries: ReadonlyMap<string, Entry>, moved: ReadonlyMap<string, Chunk>) {
    const { content: last, since } = this.#options.state;
    const complete = () => {
      const all = new Map([...entries].map(([path, entry]) => [path, withMoved(entry, moved)] as const));
      return { base: null, written: { removed: [], entries: all, moved: [] }, isComplete: true, chain: [] };
    };
    if (last === null) return complete();
    const { manifest: chain } = last;
    if (chain.length <= maxChanges && moved.size === 0 && change.entries.size <= entries.size / 4 + 100) {
      return { base: chain.at(-1) as string, written: change, isComplete: false, chain };
    }
    const all = sinceAfter(since, change, false);
    if (all === null || all.touched.size + all.moved.size > entries.size / 4) return complete();
    const touched = new Map<string, Entry>();
    for (const path of all.touched) {
      const entry = entries.get(path);
      if (entry !== undefined) touched.set(path, withMoved(entry, moved));
    }
    const known = this.#options.state.manifest.chunks;
    const locations = [...all.moved].flatMap((id) => moved.get(id) ?? known.get(id) ?? []);
    const written = { removed: [...all.removed], entries: touched, moved: locations };
    return { base: chain[0] as string, written, isComplete: false, chain: chain.slice(0, 1) };
  }
}

function isPoor(segment: Segment, liveBytes: number): boolean {
  return liveBytes < compaction.smallBytes || liveBytes < segment.rawBytes * compaction.liveShare;
}

function withMoved(entry: Entry, moved: ReadonlyMap<string, Chunk>): Entry {
  if (!entry.chunks.some(({ id }) => moved.has(id))) return entry;
  return { ...entry, chunks: entry.chunks.map((chunk) => moved.get(chunk.id) ?? chunk) };
}

function segmentIds(entries: ReadonlyMap<string, Entry>, moved: ReadonlyMap<string, Chunk>): Set<string> {
  const ids = new Set<string>();
  for (const { chunks } of entries.values()) {
    for (const chunk of chunks) ids.add((moved.get(chunk.id) ?? chunk).block.segment.id);
  }
  return ids;
}

function sinceAfter(since: ChangesSince | null, change: ManifestChange, isComplete: boolean): ChangesSince | null {
  if (isComplete) return { removed: new Set(), touched: new Set(), moved: new Set() };
  if (since === null) return null;
  return {
    removed: new Set([...since.removed, ...change.removed]),
    touched: new Set([...since.touched, ...change.entries.keys()]),
    moved: new Set([...since.moved, ...change.moved.map(({ id }) => id)]),
  };
}

/** Forgets chunks in segments that the layer does not need any more: they may be deleted. */
export function prune(manifest: Manifest, needed: ReadonlySet<string>): void {
  for (const id of manifest.segments.keys()) if (!needed.has(id)) manifest.segments.delete(id);
  for (const [id, chunk] of manifest.chunks) if (!needed.has(chunk.block.segment.id)) manifest.chunks.delete(id);
}
