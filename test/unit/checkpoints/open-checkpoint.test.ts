import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CheckpointContent } from '../../../src/checkpoints/driver.ts';
import { sizeOf } from '../../../src/checkpoints/manifest.ts';
import { openCheckpoint } from '../../../src/checkpoints/open-checkpoint.ts';
import { contentOf, readSegmentsIn, type WrittenEntry, writeLayer } from '../../support/written-segments.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'checkpoint-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const key = randomBytes(32);
const open = (content: CheckpointContent, segments = readSegmentsIn(dir)) => openCheckpoint({ content, key, segments });
const files = (entries: Record<string, WrittenEntry>) =>
  writeLayer(dir, key, { entries: { workspace: null, home: null, ...entries } });
const ignored = (entries: Record<string, WrittenEntry>) => writeLayer(dir, key, { layer: 'ignored', entries });

describe('an open checkpoint', () => {
  it('reads any range of a file, and only the blocks that have it', async () => {
    const large = randomBytes(3 * 2 ** 20 + 77);
    const content = contentOf([files({ 'workspace/large': large, 'workspace/small': Buffer.from('small') })]);
    const segments = readSegmentsIn(dir);
    const checkpoint = await open(content, segments);
    segments.requests.length = 0;
    const ranges = [
      [0, 0],
      [5, 9],
      [2 ** 19 - 1, 2 ** 19],
      [2 ** 20, 2 ** 21],
      [large.length - 1, large.length + 50],
    ];
    for (const [start = 0, end = 0] of ranges) {
      const read = await buffer(checkpoint.read('workspace/large', { range: { start, end } }));
      expect(read.equals(large.subarray(start, end + 1)), `${start}-${end}`).toBe(true);
    }
    expect(
      await buffer(checkpoint.read('workspace/large', { range: { start: large.length, end: large.length } })),
    ).toEqual(Buffer.alloc(0));
    expect((await buffer(checkpoint.read('workspace/large'))).equals(large)).toBe(true);
    expect(sizeOf(checkpoint.entries.get('workspace/large') as never)).toBe(large.length);
    // Each block once, although the ranges overlap.
    expect(segments.requests.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(large.length + 1_000);
    const first = await open(content, segments);
    segments.requests.length = 0;
    expect(String(await buffer(first.read('workspace/small')))).toBe('small');
    expect(segments.requests).toMatchObject([{ bytes: expect.toSatisfy((bytes: number) => bytes < 200) }]);
  });

  it('reads many small files with few requests', async () => {
    const entries = Object.fromEntries(
      Array.from({ length: 200 }, (_, n) => [`workspace/${String(n).padStart(4, '0')}`, randomBytes(40_000)]),
    );
    const content = contentOf([files(entries)]);
    const segments = readSegmentsIn(dir);
    const checkpoint = await open(content, segments);
    segments.requests.length = 0;
    for (const [path, expected] of Object.entries(entries)) {
      expect((await buffer(checkpoint.read(path))).equals(expected), path).toBe(true);
    }
    expect(segments.requests.length).toBeLessThan(10);
  });

  it('merges its layers: the newer files win, and what was ignored in deleted directories is gone', async () => {
    const checkpoint = await open(
      contentOf(
        [
          files({
            'workspace/now-a-file': Buffer.from('new'),
            'workspace/dir': null,
            'workspace/same': Buffer.from('new'),
          }),
        ],
        [
          ignored({
            'workspace/now-a-file': null,
            'workspace/now-a-file/below': Buffer.from('old'),
            'workspace/same': Buffer.from('old'),
            'workspace/dir/modules': null,
            'workspace/dir/modules/a': Buffer.from('a'),
            'workspace/gone/modules': null,
            'workspace/gone/modules/b': Buffer.from('b'),
          }),
        ],
      ),
    );
    expect([...checkpoint.entries.keys()].sort()).toEqual([
      'home',
      'workspace',
      'workspace/dir',
      'workspace/dir/modules',
      'workspace/dir/modules/a',
      'workspace/now-a-file',
      'workspace/same',
    ]);
    expect(String(await buffer(checkpoint.read('workspace/same')))).toBe('new');
  });

  it.each<[string, Record<string, WrittenEntry>]>([
    ['a name that leads up', { 'workspace/..': Buffer.from('x') }],
    ['the directory itself', { 'workspace/.': null }],
    ['an empty name', { 'workspace/': Buffer.from('x') }],
    ['an empty name of a directory', { 'workspace/': null, 'workspace//x': Buffer.from('x') }],
    ['a path outside', { '/etc/passwd': Buffer.from('x') }],
    ['another directory', { other: null, 'other/x': Buffer.from('x') }],
    ['no path', { '': null }],
    ['a NUL', { 'workspace/a\0b': Buffer.from('x') }],
    ['a name that is too long', { [`workspace/${'a'.repeat(256)}`]: Buffer.from('x') }],
    ['a path up within', { 'workspace/..': null, 'workspace/../b': Buffer.from('x') }],
    ['a path without a directory', { 'workspace/a/b': Buffer.from('x') }],
    ['a path in a file', { 'workspace/a': Buffer.from('x'), 'workspace/a/b': Buffer.from('x') }],
    ['a path in a link', { 'workspace/a': { target: '/etc' }, 'workspace/a/passwd': Buffer.from('x') }],
    ['a link in place of the workspace', { workspace: { target: '/etc' } }],
    ['a file in place of the home', { home: Buffer.from('x') }],
    ['a link with a NUL', { 'workspace/a': { target: 'a\0b' } }],
    ['a link to nothing', { 'workspace/a': { type: 'link', target: '' } }],
  ])('refuses %s', async (_, entries) => {
    await expect(open(contentOf([files(entries)]))).rejects.toMatchObject({ code: 'DAMAGED' });
    const older = contentOf([files({})], [ignored(entries)]);
    // In the older layer, a directory may be gone.
    const found = await open(older).then(
      ({ entries: merged }) => [...merged.keys()],
      ({ code }) => code,
    );
    expect([['workspace', 'home'], 'DAMAGED']).toContainEqual(found);
  });

  it('fails as the storage does, and reads again when it works', async () => {
    const content = contentOf([files({ 'workspace/a': randomBytes(100_000) })]);
    const working = readSegmentsIn(dir);
    let fail = false;
    const segments = {
      read: async (id: string, range?: { start: number; end: number }) => {
        if (fail) throw new Error('The network is down.');
        return working.read(id, range);
      },
    };
    const checkpoint = await openCheckpoint({ content, key, segments });
    fail = true;
    await expect(buffer(checkpoint.read('workspace/a'))).rejects.toMatchObject({ code: 'FAILED' });
    await expect(openCheckpoint({ content, key, segments })).rejects.toMatchObject({ code: 'FAILED' });
    fail = false;
    expect((await buffer(checkpoint.read('workspace/a'))).length).toBe(100_000);
    const broken = {
      read: async () =>
        Readable.from(
          (function* () {
            yield Buffer.alloc(3);
            throw new Error('Reset.');
          })(),
        ),
    };
    await expect(openCheckpoint({ content, key, segments: broken })).rejects.toMatchObject({ code: 'FAILED' });
  });

  it('stops when it is told to', async () => {
    const content = contentOf([files({ 'workspace/a': randomBytes(600_000) })]);
    const checkpoint = await open(content);
    const abort = new AbortController();
    abort.abort();
    await expect(buffer(checkpoint.read('workspace/a', { signal: abort.signal }))).rejects.toMatchObject({
      code: 'STOPPED',
    });
    await expect(
      openCheckpoint({ content, key, segments: readSegmentsIn(dir), signal: abort.signal }),
    ).rejects.toMatchObject({ code: 'STOPPED' });
  });
});
