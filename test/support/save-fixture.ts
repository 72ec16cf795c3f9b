import { randomBytes } from 'node:crypto';
import {
  copyFileSync,
  createReadStream,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deriveKeys } from '../../src/checkpoints/checkpoint-keys.ts';
import {
  type CheckpointContent,
  type CheckpointDirectories,
  checkpointRoots,
  type LayerContent,
  type SavedState,
  type SaveLimits,
  type SegmentSource,
} from '../../src/checkpoints/driver.ts';
import { type Chunk, fromMtime, type Layer } from '../../src/checkpoints/manifest.ts';
import { openRecord } from '../../src/checkpoints/segment-format.ts';
import { decodeManifests, fetchManifests } from '../../src/checkpoints/segment-reader.ts';
import { emptyTree } from '../../src/store/delete-tree.ts';

/** The directories of a session in a new directory, with a storage for segments. */
export interface SaveFixture {
  readonly dir: string;
  readonly directories: CheckpointDirectories;
  readonly spoolDir: string;
  readonly key: Buffer;
  readonly limits: SaveLimits;
  readonly segments: SegmentSource;
  /** Copies the new segments of a save to the storage. */
  upload(saved: SavedState): void;
  /** The path of a segment in the storage. */
  pathOf(id: string): string;
  remove(): Promise<void>;
}

/** Creates a {@link SaveFixture}. */
export function createSaveFixture(): SaveFixture {
  const dir = mkdtempSync(join(tmpdir(), 'save-'));
  const [workspace, home, records, spoolDir, store] = ['workspace', 'home', 'records', 'spool', 'store'].map((name) => {
    mkdirSync(join(dir, name));
    return join(dir, name);
  }) as [string, string, string, string, string];
  const pathOf = (id: string) => join(store, id);
  return {
    dir,
    directories: { workspace, home, records },
    spoolDir,
    key: randomBytes(32),
    limits: { maxFileBytes: 2 ** 30, maxIgnoredBytes: 2 ** 30, maxEntries: 100_000 },
    segments: {
      read: async (id, range) => (existsSync(pathOf(id)) ? createReadStream(pathOf(id), { ...range }) : null),
    },
    upload: (saved) => {
      for (const { id, path } of saved.segments) copyFileSync(path, pathOf(id));
    },
    pathOf,
    remove: async () => {
      // Paths may be longer than the system allows.
      await emptyTree(dir);
      rmdirSync(dir);
    },
  };
}

/** An entry with its content: latin1 text of a file or a link; null: a directory. */
export interface FoundEntry {
  readonly type: 'file' | 'directory' | 'link';
  readonly mode: number;
  /** Milliseconds; 0 for directories and links, which change with what is in them. */
  readonly mtimeMs: number;
  readonly content: string | null;
}

/** Reads all entries of both layers from the storage, by path. */
export async function readSaved(
  { key, segments, pathOf }: SaveFixture,
  content: CheckpointContent,
): Promise<Map<string, FoundEntry>> {
  const found = new Map<string, FoundEntry>();
  for (const layer of ['ignored', 'files'] as const) {
    const of = content[layer];
    if (of !== null) await readLayer(layer, of, found);
  }
  return found;

  async function readLayer(layer: Layer, of: LayerContent, into: Map<string, FoundEntry>) {
    const keys = deriveKeys(key);
    const manifest = decodeManifests(await fetchManifests(of, key, segments), layer, keys);
    const listed = new Set(of.segments);
    const read = ({ block, start, length }: Chunk) => {
      const { id } = block.segment;
      if (!listed.has(id)) throw new Error('A layer needs a segment that it does not list.');
      const sealed = readFileSync(pathOf(id)).subarray(block.offset, block.offset + block.length);
      const opened = openRecord(keys, { segmentId: id, kind: 'block', offset: block.offset }, sealed);
      return opened.subarray(start, start + length);
    };
    for (const [path, { type, mode, mtime, chunks, target }] of manifest.entries) {
      const text = type === 'link' ? target : Buffer.concat(chunks.map(read)).toString('latin1');
      const mtimeMs = type === 'file' ? Math.floor(fromMtime(mtime) * 1_000) : 0;
      into.set(path, { type, mode, mtimeMs, content: type === 'directory' ? null : text });
    }
  }
}

/** Reads all entries of the directories, by path. */
export function readDirectories({ directories }: SaveFixture): Map<string, FoundEntry> {
  const found = new Map<string, FoundEntry>();
  const visit = (path: Buffer, name: string) => {
    const stats = lstatSync(path);
    const mode = stats.mode & 0o7777;
    if (stats.isDirectory()) {
      found.set(name, { type: 'directory', mode, mtimeMs: 0, content: null });
      for (const child of readdirSync(path, 'buffer')) {
        visit(Buffer.concat([path, Buffer.from('/'), child]), `${name}/${child.toString('latin1')}`);
      }
    } else if (stats.isSymbolicLink()) {
      const content = readlinkSync(path, 'buffer').toString('latin1');
      found.set(name, { type: 'link', mode: 0o777, mtimeMs: 0, content });
    } else if (stats.isFile()) {
      const content = readFileSync(path).toString('latin1');
      found.set(name, { type: 'file', mode, mtimeMs: Math.floor(stats.mtimeMs), content });
    }
  };
  for (const root of checkpointRoots) visit(Buffer.from(directories[root]), root);
  return found;
}
