import { randomBytes } from 'node:crypto';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { CheckpointKeys } from './checkpoint-keys.ts';
import type { NewSegment } from './driver.ts';
import type { Block, Chunk, Segment } from './manifest.ts';
import { headerBytes, sealHeader, sealRecord } from './segment-format.ts';

/** The size from which a segment gets no more chunks. */
export const maxSegmentBytes = 2 ** 24;

/** The largest chunk. */
export const maxChunkBytes = 2 ** 19;

// To read one small file, a reader loads one block.
const blockTarget = 2 ** 18;

/** Options of {@link createSegmentWriter}. */
export interface SegmentWriterOptions {
  /** The directory of new segments. It exists. */
  readonly spoolDir: string;
  readonly keys: CheckpointKeys;
}

/**
 * Writes the new chunks and the manifest of one layer to segments in the spool. All methods are synchronous, for a process or a thread of
 * its own. After an error of the system, call `discard`.
 */
export interface SegmentWriter {
  /**
   * Adds content of 1 to {@link maxChunkBytes} bytes; `id` is its identity. Copies it. The length of the chunk's block is unknown (0) until
   * `finish`.
   */
  add(id: string, content: Uint8Array): Chunk;
  /** The segments that have chunks until now. */
  readonly segments: readonly Segment[];
  /**
   * Writes the rest and then the manifest, which `encode` returns when all chunks have their final positions. Returns the segments: the last
   * one has the manifest.
   */
  finish(encode: () => Buffer): NewSegment[];
  /** Deletes all segments of this writer, also after `finish`. */
  discard(): void;
}

interface OpenSegment {
  readonly segment: Segment;
  readonly path: string;
  readonly fd: number;
  bytes: number;
}

/** Begins to write segments. Creates no file before the first chunk. */
export function createSegmentWriter({ spoolDir, keys }: SegmentWriterOptions): SegmentWriter {
  const segments: Segment[] = [];
  const done: NewSegment[] = [];
  let open: OpenSegment | null = null;
  let block: Block | null = null;
  const pending = Buffer.allocUnsafe(blockTarget + maxChunkBytes);

  const current = (): OpenSegment => {
    if (open !== null) return open;
    const id = randomBytes(16).toString('hex');
    const segment: Segment = { id, storedBytes: 0, rawBytes: 0, blocks: new Map() };
    const path = join(spoolDir, id);
    open = { segment, path, fd: openSync(path, 'wx', 0o600), bytes: headerBytes };
    segments.push(segment);
    return open;
  };
  const writeBlock = () => {
    if (block === null) return;
    const target = current();
    const position = { segmentId: target.segment.id, kind: 'block', offset: block.offset } as const;
    const sealed = sealRecord(keys, position, pending.subarray(0, block.rawLength));
    write(target, sealed);
    block.length = sealed.length;
    target.segment.storedBytes += sealed.length;
    block = null;
  };
  const close = (manifest: Buffer | null) => {
    const target = current();
    const { id } = target.segment;
    let range: { offset: number; length: number } | null = null;
    if (manifest !== null) {
      const offset = target.bytes;
      const sealed = sealRecord(keys, { segmentId: id, kind: 'manifest', offset }, manifest);
      write(target, sealed);
      range = { offset, length: sealed.length };
    }
    writeAt(target.fd, sealHeader(keys, id, { bytes: target.bytes, manifest: range }), 0);
    closeSync(target.fd);
    open = null;
    done.push({ id, path: target.path, bytes: target.bytes });
  };
  const openBlock = (): Block => {
    if (block !== null) return block;
    if (current().bytes >= maxSegmentBytes) close(null);
    const { segment, bytes } = current();
    block = { segment, offset: bytes, length: 0, rawLength: 0 };
    segment.blocks.set(bytes, block);
    return block;
  };
  return {
    segments,
    add(id, content) {
      if (content.length === 0 || content.length > maxChunkBytes) throw new Error('A chunk has a wrong length.');
      if (block !== null && block.rawLength + content.length > blockTarget) writeBlock();
      const target = openBlock();
      const chunk: Chunk = { id, length: content.length, block: target, start: target.rawLength };
      pending.set(content, target.rawLength);
      target.rawLength += content.length;
      target.segment.rawBytes += content.length;
      return chunk;
    },
    finish(encode) {
      writeBlock();
      close(encode());
      return [...done];
    },
    discard() {
      if (open !== null) {
        closeSync(open.fd);
        rmSync(open.path, { force: true });
      }
      open = null;
      for (const { path } of done) rmSync(path, { force: true });
    },
  };
}

function write(target: OpenSegment, content: Buffer): void {
  writeAt(target.fd, content, target.bytes);
  target.bytes += content.length;
}

function writeAt(fd: number, content: Buffer, position: number): void {
  for (let written = 0; written < content.length; ) {
    written += writeSync(fd, content, written, content.length - written, position + written);
  }
}
