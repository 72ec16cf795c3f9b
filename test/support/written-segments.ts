import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { deriveKeys } from '../../src/checkpoints/checkpoint-keys.ts';
import type {
  CheckpointContent,
  CheckpointKey,
  LayerContent,
  NewSegment,
  SegmentSource,
} from '../../src/checkpoints/driver.ts';
import type { Entry, Layer, ManifestChange } from '../../src/checkpoints/manifest.ts';
import { encodeManifest } from '../../src/checkpoints/manifest-format.ts';
import { createSegmentWriter, maxChunkBytes } from '../../src/checkpoints/segment-writer.ts';

/** A file's content, null for a directory, or a link's target, with other attributes than the usual ones. */
export type WrittenEntry =
  | Buffer
  | null
  | (Partial<Entry> & {
      readonly content?: Buffer;
      /** The content this many times, with the same chunks. */
      readonly repeat?: number;
    });

/** A layer to write. */
export interface WrittenLayer {
  readonly layer?: Layer;
  readonly base?: string | null;
  readonly removed?: readonly string[];
  /** By path, with one character for each byte. */
  readonly entries: Readonly<Record<string, WrittenEntry>>;
}

/** The usual modification time of an entry, in microseconds. */
export const writtenMtime = 1_700_000_000_123_456;

/** Writes entries and their manifest to segments in a directory, without checking any path. */
export function writeLayer(
  dir: string,
  key: CheckpointKey,
  { layer = 'files', base = null, removed = [], entries }: WrittenLayer,
): { readonly segments: readonly NewSegment[]; readonly change: ManifestChange; readonly last: string } {
  const keys = deriveKeys(key);
  const writer = createSegmentWriter({ spoolDir: dir, keys });
  const chunksOf = (content: Buffer) => {
    const parts = Array.from({ length: Math.ceil(content.length / maxChunkBytes) }, (_, n) =>
      content.subarray(n * maxChunkBytes, (n + 1) * maxChunkBytes),
    );
    return parts.map((part) => writer.add(keys.chunkIdOf(part), part));
  };
  const toEntry = (written: WrittenEntry): Entry => {
    const common = { mtime: writtenMtime, chunks: [], target: '' };
    if (written === null) return { ...common, type: 'directory', mode: 0o755 };
    if (Buffer.isBuffer(written)) return { ...common, type: 'file', mode: 0o644, chunks: chunksOf(written) };
    const { content, repeat = 1, ...rest } = written;
    const type = rest.target === undefined ? 'file' : 'link';
    const chunks = chunksOf(content ?? Buffer.alloc(0));
    return { ...common, type, mode: 0o644, chunks: Array.from({ length: repeat }, () => chunks).flat(), ...rest };
  };
  const change: ManifestChange = {
    removed,
    entries: new Map(Object.entries(entries).map(([path, written]) => [path, toEntry(written)])),
    moved: [],
  };
  const segments = writer.finish(() => encodeManifest({ layer, base, change }));
  return { segments, change, last: (segments.at(-1) as NewSegment).id };
}

/** Returns the content of layers with these segments; the last segment of each part has its manifest. */
export function contentOf(
  files: readonly ReturnType<typeof writeLayer>[],
  ignored: readonly ReturnType<typeof writeLayer>[] = [],
): CheckpointContent {
  return { format: 1, files: layerOf(files), ignored: ignored.length === 0 ? null : layerOf(ignored) };
}

function layerOf(parts: readonly ReturnType<typeof writeLayer>[]): LayerContent {
  const segments = parts.flatMap((part) => part.segments.map(({ id }) => id));
  return { manifest: parts.map(({ last }) => last), segments, files: 0, bytes: 0, missing: [] };
}

/** Reads segments of a directory, and records the requests. */
export function readSegmentsIn(dir: string): SegmentSource & { readonly requests: { id: string; bytes: number }[] } {
  const requests: { id: string; bytes: number }[] = [];
  return {
    requests,
    async read(id, range) {
      try {
        const all = readFileSync(join(dir, id));
        const part = range ? all.subarray(range.start, range.end + 1) : all;
        requests.push({ id, bytes: part.length });
        return Readable.from([part]);
      } catch {
        return null;
      }
    },
  };
}
