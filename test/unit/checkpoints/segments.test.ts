import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deriveKeys } from '../../../src/checkpoints/checkpoint-keys.ts';
import type { LayerContent, NewSegment } from '../../../src/checkpoints/driver.ts';
import {
  applyChange,
  type Entry,
  emptyManifest,
  fromMtime,
  liveSegments,
  sizeOf,
  toMtime,
} from '../../../src/checkpoints/manifest.ts';
import { decodeManifest, encodeManifest } from '../../../src/checkpoints/manifest-format.ts';
import { openRecord } from '../../../src/checkpoints/segment-format.ts';
import { decodeManifests, fetchManifests, readRange } from '../../../src/checkpoints/segment-reader.ts';
import { readSegmentsIn, writeLayer } from '../../support/written-segments.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'segments-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const key = randomBytes(32);
const keys = deriveKeys(key);

/** Writes files by path, and their manifest. */
function writeFiles(
  entries: Record<string, Buffer>,
  base: string | null = null,
  removed: string[] = [],
  organizationKey = key,
) {
  return writeLayer(dir, organizationKey, { entries, base, removed });
}

const layerOf = (...manifest: string[]): LayerContent => ({
  manifest,
  segments: manifest,
  files: 0,
  bytes: 0,
  missing: [],
});

async function readFiles(layer: LayerContent, organizationKey = key) {
  const source = readSegmentsIn(dir);
  const manifest = decodeManifests(
    await fetchManifests(layer, organizationKey, source),
    'files',
    deriveKeys(organizationKey),
  );
  const files: Record<string, Buffer> = {};
  for (const [path, { chunks }] of manifest.entries) {
    const parts = chunks.map(async ({ block, start, length }) => {
      const position = { segmentId: block.segment.id, kind: 'block', offset: block.offset } as const;
      const sealed = await readRange(source, block.segment.id, block.offset, block.length);
      return openRecord(deriveKeys(organizationKey), position, sealed).subarray(start, start + length);
    });
    files[path] = Buffer.concat(await Promise.all(parts));
  }
  return files;
}

describe('segments', () => {
  it('contain files and manifests, and changes of them', async () => {
    const first = {
      'workspace/a': Buffer.from('first'),
      'workspace/\xff\xfe': randomBytes(3_000),
      'home/empty': Buffer.alloc(0),
    };
    const one = writeFiles({ ...first, 'workspace/gone': Buffer.from('x') });
    expect(one.segments[0]?.bytes).toBe(readFileSync(one.segments[0]?.path ?? '').length);
    const second = { 'workspace/a': Buffer.from('second') };
    const two = writeFiles(second, one.last, ['workspace/gone']);
    expect(await readFiles(layerOf(one.last, two.last))).toEqual({ ...first, ...second });
  });

  it('begin a new file when one is full', async () => {
    const files = Object.fromEntries(Array.from({ length: 34 }, (_, at) => [`workspace/${at}`, randomBytes(2 ** 19)]));
    const { segments, last } = writeFiles(files);
    expect(segments.length).toBe(2);
    for (const { bytes } of segments) expect(bytes).toBeLessThan(17_000_000);
    const read = await readFiles(layerOf(last));
    for (const [path, content] of Object.entries(files)) expect(content.equals(read[path] as Buffer), path).toBe(true);
  });

  it('are refused where any byte was changed or is missing', async () => {
    const { segments } = writeFiles({ 'workspace/a': Buffer.from('some content') });
    const [{ id, path }] = segments as [NewSegment];
    const original = readFileSync(path);
    for (let at = 0; at < original.length; at++) {
      const changed = Buffer.from(original);
      changed[at] = (changed[at] ?? 0) ^ 1;
      writeFileSync(path, changed);
      await expect(readFiles(layerOf(id)), `byte ${at}`).rejects.toMatchObject({ code: 'DAMAGED' });
      writeFileSync(path, original.subarray(0, at));
      await expect(readFiles(layerOf(id)), `cut at ${at}`).rejects.toMatchObject({ code: 'DAMAGED' });
    }
  });

  it('are refused under the name of another one, in another order, and with another key', async () => {
    const one = writeFiles({ 'workspace/a': Buffer.from('one') }).segments as [NewSegment];
    const two = writeFiles({ 'workspace/a': Buffer.from('two') }, one[0].id).segments as [NewSegment];
    const three = writeFiles({ 'workspace/a': Buffer.from('three') }, two[0].id).segments as [NewSegment];
    const [first, second, third] = [one[0].id, two[0].id, three[0].id];
    const damage = { code: 'DAMAGED' };
    await expect(readFiles(layerOf(second))).rejects.toMatchObject(damage);
    await expect(readFiles(layerOf(first, third))).rejects.toMatchObject(damage);
    await expect(readFiles(layerOf(first, third, second))).rejects.toMatchObject(damage);
    await expect(readFiles(layerOf(first, first))).rejects.toMatchObject(damage);
    await expect(readFiles(layerOf(first), randomBytes(32))).rejects.toMatchObject(damage);
    await expect(readFiles(layerOf('0'.repeat(32)))).rejects.toMatchObject({ code: 'MISSING' });
    writeFileSync(two[0].path, readFileSync(one[0].path));
    await expect(readFiles(layerOf(first, second))).rejects.toMatchObject(damage);
  });

  it('do not tell whether two organizations have the same file', () => {
    const content = { 'workspace/a': randomBytes(1_000) };
    const otherKey = randomBytes(32);
    const other = deriveKeys(otherKey);
    expect(other.chunkIdOf(content['workspace/a'])).not.toBe(keys.chunkIdOf(content['workspace/a']));
    const [one, two] = [writeFiles(content), writeFiles(content, null, [], otherKey)].map(({ segments }) =>
      readFileSync(segments[0]?.path ?? ''),
    ) as [Buffer, Buffer];
    // No four bytes beside each other are the same at any offset, except the public start.
    const seen = new Set<number>();
    for (let at = 8; at + 4 <= one.length; at++) seen.add(one.readUInt32BE(at));
    let same = 0;
    for (let at = 8; at + 4 <= two.length; at++) same += Number(seen.has(two.readUInt32BE(at)));
    expect(same).toBeLessThan(3);
  });
});

describe('a manifest', () => {
  it('knows which segments are needed', () => {
    const manifest = emptyManifest();
    const one = writeFiles({
      'workspace/a': Buffer.from('one'),
      'workspace/b': Buffer.from('four'),
      'workspace/c': Buffer.from('one'),
    });
    applyChange(manifest, one.change);
    const two = writeFiles({ 'workspace/b': Buffer.from('seven') });
    applyChange(manifest, two.change);
    const live = [...liveSegments(manifest)].map(([{ id }, bytes]) => [id, bytes]);
    // The second chunk with the same content has the position of the last one.
    expect(live.sort()).toEqual(
      [
        [one.last, 3],
        [two.last, 5],
      ].sort(),
    );
  });

  it('has times that a restored file keeps', () => {
    const path = join(dir, 'file');
    writeFileSync(path, '');
    for (const ms of [1_700_000_000_123.456, 1_699_999_999_999.75, 499_162_500_000, 0, 1.001, 4_102_444_799_000.5]) {
      const time = fromMtime(toMtime(ms));
      utimesSync(path, time, time);
      expect(toMtime(statSync(path).mtimeMs)).toBe(toMtime(ms));
    }
  });
});

describe('a change of a manifest', () => {
  const directory: Entry = { type: 'directory', mode: 0o755, mtime: 0, chunks: [], target: '' };
  const link: Entry = { type: 'link', mode: 0o777, mtime: -5, chunks: [], target: '../\xff' };

  it('removes directories with what is in them', () => {
    const manifest = emptyManifest();
    const paths = ['workspace', 'workspace/a', 'workspace/a/b', 'workspace/a/b/c', 'workspace/ab'];
    applyChange(manifest, { removed: [], entries: new Map(paths.map((path) => [path, directory])), moved: [] });
    applyChange(manifest, { removed: ['workspace/a'], entries: new Map([['workspace/a', link]]), moved: [] });
    expect([...manifest.entries]).toEqual([
      ['workspace', directory],
      ['workspace/ab', directory],
      ['workspace/a', link],
    ]);
  });

  it('is the same after encoding', () => {
    const { change } = writeFiles({ 'workspace/x': Buffer.from('1'), 'workspace/y': Buffer.from('2') });
    const times = [toMtime(8.64e15), toMtime(-8.64e15), 0, -1, 63, 64, -64, -65];
    const timed = times.map((mtime, index) => [`workspace/${index}`, { ...directory, mtime }] as const);
    const entries = new Map([...change.entries, ['workspace', directory], ['workspace/l', link], ...timed] as const);
    const encoded = encodeManifest({
      layer: 'ignored',
      base: null,
      change: { ...change, entries, removed: ['home/\0'] },
    });
    const decoded = decodeManifest(encoded);
    expect(decoded.layer).toBe('ignored');
    expect(decoded.change.removed).toEqual(['home/\0']);
    expect([...decoded.change.entries.keys()]).toEqual([...entries.keys()]);
    expect(decoded.change.entries.get('workspace/l')).toEqual(link);
    for (const [path, entry] of timed) expect(decoded.change.entries.get(path)).toEqual(entry);
    expect(sizeOf(decoded.change.entries.get('workspace/y') as Entry)).toBe(1);
    for (let end = 0; end < encoded.length; end++) {
      expect(() => decodeManifest(encoded.subarray(0, end))).toThrow(expect.objectContaining({ code: 'DAMAGED' }));
    }
  });
});
