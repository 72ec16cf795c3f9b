import { ByteReader, ByteWriter } from './byte-stream.ts';
import { chunkIdBytes } from './checkpoint-keys.ts';
import {
  type Block,
  type Chunk,
  damagedManifest,
  type Entry,
  type EntryType,
  type Layer,
  type ManifestChange,
  type Segment,
} from './manifest.ts';
import { maxBlockBytes } from './segment-format.ts';

const version = 1;
const layers: readonly Layer[] = ['files', 'ignored'];
const types: readonly EntryType[] = ['file', 'directory', 'link'];

/** A manifest or a change of one, as a record of a segment has it. */
export interface EncodedManifest {
  readonly layer: Layer;
  /** The segment with the manifest that this one changes; null: it is complete. */
  readonly base: string | null;
  readonly change: ManifestChange;
}

interface Tables {
  readonly segments: Map<Segment, number>;
  readonly blocks: Map<Block, number>;
  readonly chunks: Map<Chunk, number>;
}

/** Encodes a manifest. All blocks of its chunks must be written: their lengths are part of it. */
export function encodeManifest({ layer, base, change }: EncodedManifest): Buffer {
  const writer = new ByteWriter();
  writer.uint(version);
  writer.uint(layers.indexOf(layer));
  writer.bytes(base ?? '');
  const tables = collectTables(change);
  writeTables(writer, tables);
  writer.uint(change.removed.length);
  for (const path of change.removed) writer.bytes(path);
  writer.uint(change.entries.size);
  let [mtime, next] = [0, 0];
  for (const [path, entry] of change.entries) {
    writer.bytes(path);
    writer.uint(types.indexOf(entry.type));
    writer.uint(entry.mode);
    writer.int(entry.mtime - mtime);
    mtime = entry.mtime;
    if (entry.type === 'link') writer.bytes(entry.target);
    if (entry.type !== 'file') continue;
    writer.uint(entry.chunks.length);
    for (const chunk of entry.chunks) {
      const index = tables.chunks.get(chunk) as number;
      writer.int(index - next);
      next = index + 1;
    }
  }
  return writer.finish();
}

// Files in the order of their entries: their chunks are often beside each other, so most differences are 0.
function collectTables(change: ManifestChange): Tables {
  const tables: Tables = { segments: new Map(), blocks: new Map(), chunks: new Map() };
  const add = <T>(table: Map<T, number>, item: T) => {
    if (!table.has(item)) table.set(item, table.size);
  };
  const addChunk = (chunk: Chunk) => {
    if (chunk.block.length === 0) throw new Error('A block was not written.');
    add(tables.segments, chunk.block.segment);
    add(tables.blocks, chunk.block);
    add(tables.chunks, chunk);
  };
  for (const { chunks } of change.entries.values()) chunks.forEach(addChunk);
  change.moved.forEach(addChunk);
  return tables;
}

function writeTables(writer: ByteWriter, { segments, blocks, chunks }: Tables): void {
  writer.uint(segments.size);
  for (const { id, storedBytes, rawBytes } of segments.keys()) {
    writer.fixed(Buffer.from(id, 'hex').toString('latin1'));
    writer.uint(storedBytes);
    writer.uint(rawBytes);
  }
  writer.uint(blocks.size);
  let [end, index] = [0, 0];
  for (const { segment, offset, length, rawLength } of blocks.keys()) {
    writer.uint(segments.get(segment) as number);
    writer.int(offset - end);
    writer.uint(length);
    writer.uint(rawLength);
    end = offset + length;
  }
  writer.uint(chunks.size);
  end = 0;
  for (const { id, block, start, length } of chunks.keys()) {
    writer.fixed(id);
    const blockIndex = blocks.get(block) as number;
    if (blockIndex !== index) end = 0;
    writer.int(blockIndex - index);
    writer.int(start - end);
    writer.uint(length);
    [index, end] = [blockIndex, start + length];
  }
}

/**
 * Decodes a manifest. Checks its structure and the positions in it, but not its paths (`mergeLayers`). Throws CheckpointError.
 */
export function decodeManifest(content: Buffer): EncodedManifest {
  const steps = decodeInSteps(content);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** The number of entries that {@link decodeInSteps} decodes in one step. */
const entriesOfStep = 2_000;

/** Decodes a manifest as {@link decodeManifest} does, and yields every few milliseconds. */
export function* decodeInSteps(content: Buffer): Generator<undefined, EncodedManifest> {
  const reader = new ByteReader(content);
  if (reader.uint() !== version) throw damagedManifest('has an unknown version');
  const layer = layers[reader.uint()];
  if (layer === undefined) throw damagedManifest('has an unknown layer');
  const base = reader.bytes() || null;
  const moved = readTables(reader);
  const removed = Array.from({ length: reader.count() }, () => reader.bytes());
  const entries = new Map<string, Entry>();
  const count = reader.count();
  let [mtime, next] = [0, 0];
  for (let read = 0; read < count; read++) {
    if (read % entriesOfStep === entriesOfStep - 1) yield;
    const path = reader.bytes();
    const type = types[reader.uint()];
    const mode = reader.uint();
    mtime += reader.int();
    if (type === undefined || mode > 0o7777 || !Number.isSafeInteger(mtime)) throw damagedManifest('has a wrong entry');
    const target = type === 'link' ? reader.bytes() : '';
    const chunks: Chunk[] = [];
    if (type === 'file') {
      for (let left = reader.count(); left > 0; left--) {
        next += reader.int();
        const chunk = moved[next++];
        if (chunk === undefined) throw damagedManifest('has a wrong file');
        chunks.push(chunk);
      }
    }
    if (entries.has(path)) throw damagedManifest('has a path twice');
    entries.set(path, { type, mode, mtime, chunks, target });
  }
  reader.end();
  return { layer, base, change: { removed, entries, moved } };
}

/** Reads the tables, and returns the chunks. */
function readTables(reader: ByteReader): Chunk[] {
  const segments: Segment[] = Array.from({ length: reader.count() }, () => {
    const id = Buffer.from(reader.fixed(16), 'latin1').toString('hex');
    return { id, storedBytes: reader.uint(), rawBytes: reader.uint(), blocks: new Map() };
  });
  let end = 0;
  const blocks: Block[] = Array.from({ length: reader.count() }, () => {
    const segment = segments[reader.uint()];
    const offset = end + reader.int();
    const [length, rawLength] = [reader.uint(), reader.uint()];
    end = offset + length;
    if (segment === undefined || offset < 0 || rawLength > maxBlockBytes) throw damagedManifest('has a wrong block');
    const block = { segment, offset, length, rawLength };
    segment.blocks.set(offset, block);
    return block;
  });
  let index = 0;
  end = 0;
  return Array.from({ length: reader.count() }, () => {
    const id = reader.fixed(chunkIdBytes);
    const step = reader.int();
    if (step !== 0) end = 0;
    index += step;
    const block = blocks[index];
    const start = end + reader.int();
    const length = reader.uint();
    end = start + length;
    if (block === undefined || start < 0 || end > block.rawLength) throw damagedManifest('has a wrong chunk');
    return { id, block, start, length };
  });
}
