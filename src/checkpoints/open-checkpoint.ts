import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BlockReader } from './block-reader.ts';
import { type CheckpointKeys, deriveKeys } from './checkpoint-keys.ts';
import type { LayerContent, RestoreRequest } from './driver.ts';
import type { Chunk, Entry, Layer, Manifest } from './manifest.ts';
import { mergeLayers } from './merge-layers.ts';
import { decodeManifestsInSteps, fetchManifests, stopped } from './segment-reader.ts';

/** Options of {@link openCheckpoint}. */
export interface OpenCheckpointOptions extends Pick<RestoreRequest, 'content' | 'key' | 'segments'> {
  readonly signal?: AbortSignal | undefined;
}

/** Reads a checkpoint without restoring it. It needs no closing. */
export interface CheckpointReader {
  /**
   * The entries of both layers by path, which has one character for each byte: the roots, and what is below. Each path is in a
   * directory. Those of the layer `files` come first, otherwise in no order.
   */
  readonly entries: ReadonlyMap<string, Entry>;
  /** The number of entries of the layer `files`. Git ignores the other ones. */
  readonly fileEntryCount: number;
  /**
   * Reads a file, or the part of it that a range has; both ends are included, and what exceeds the file is left out. Reads only the
   * blocks that it needs, at the pace of the stream. The stream fails with CheckpointError.
   */
  read(path: string, options?: ReadCheckpointOptions): Readable;
}

/** Options of {@link CheckpointReader.read}. */
export interface ReadCheckpointOptions {
  readonly range?: { readonly start: number; readonly end: number } | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads the manifests of a checkpoint by ranges of its segments. Does not block the event loop for longer than some milliseconds. Rejects
 * with CheckpointError.
 */
export async function openCheckpoint(options: OpenCheckpointOptions): Promise<CheckpointReader> {
  const { content, key, segments } = options;
  const keys = deriveKeys(key);
  const files = await readLayer('files', content.files, keys, options);
  const ignored = content.ignored === null ? null : await readLayer('ignored', content.ignored, keys, options);
  const entries = await inSteps(mergeLayers(files, ignored), options.signal);
  const blocks = new BlockReader(keys, segments);
  return {
    entries,
    fileEntryCount: files.entries.size,
    read(path, { range, signal } = {}) {
      const entry = entries.get(path);
      if (entry?.type !== 'file') throw new Error('Only a file of the checkpoint can be read.');
      return Readable.from(contentOf(blocks, entry.chunks, range, signal), { objectMode: false });
    },
  };
}

async function readLayer(
  layer: Layer,
  content: LayerContent,
  keys: CheckpointKeys,
  { key, segments, signal }: OpenCheckpointOptions,
): Promise<Manifest> {
  const stored = await fetchManifests(content, key, segments, signal);
  return inSteps(decodeManifestsInSteps(stored, layer, keys), signal);
}

async function inSteps<T>(steps: Generator<undefined, T>, signal: AbortSignal | undefined): Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    await nextTurn();
    if (signal?.aborted) throw stopped();
  }
}

async function* contentOf(
  blocks: BlockReader,
  chunks: readonly Chunk[],
  range: ReadCheckpointOptions['range'],
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer> {
  const [first, end] = range === undefined ? [0, Number.POSITIVE_INFINITY] : [range.start, range.end + 1];
  let position = 0;
  for (const { block, start, length } of chunks) {
    const from = Math.max(0, first - position);
    const to = Math.min(length, end - position);
    position += length;
    if (from >= to) continue;
    if (signal?.aborted) throw stopped();
    const content = await blocks.read(block);
    yield content.subarray(start + from, start + to);
  }
}
