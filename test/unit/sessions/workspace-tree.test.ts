import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import type { Entry } from '../../../src/checkpoints/manifest.ts';
import { requireArchivable } from '../../../src/domain/sessions/workspace-files/archive.ts';
import { decodeName, encodeName, isTextName } from '../../../src/domain/sessions/workspace-files/entry-names.ts';
import { createWorkspaceTree } from '../../../src/domain/sessions/workspace-files/manifest-tree.ts';

const entryOf = (type: Entry['type']): Entry => ({ type, mode: 0o644, mtime: 0, chunks: [], target: '' });

/** The entries of a manifest, with the number of times that one was looked up. */
class CountedEntries extends Map<string, Entry> {
  lookups = 0;

  override get(path: string): Entry | undefined {
    this.lookups++;
    return super.get(path);
  }

  override has(path: string): boolean {
    this.lookups++;
    return super.has(path);
  }
}

it('reads a deep tree without reading the directories above for each name', async () => {
  const entries = new CountedEntries([['workspace', entryOf('directory')]]);
  const [depth, files] = [300, 4];
  let path = 'workspace';
  for (let level = 0; level < depth; level++) {
    path += '/d';
    entries.set(path, entryOf('directory'));
    for (let file = 0; file < files; file++) entries.set(`${path}/${file}`, entryOf('file'));
  }
  const tree = createWorkspaceTree({ entries, fileEntryCount: entries.size, read: () => Readable.from([]) });
  await requireArchivable(tree, []);
  const deepest = Array.from({ length: depth }, () => 'd');
  for (let file = 0; file < files; file++) {
    expect(tree.find([...deepest, String(file)])?.type).toBe('FILE');
    tree.read([...deepest, String(file)]).destroy();
  }
  expect(entries.lookups).toBeLessThan(10 * entries.size);
});

it('finds names that are not UTF-8, and prefers those that are', () => {
  const entries = new Map<string, Entry>(
    ['workspace', 'workspace/a\xff', 'workspace/a\xff/b'].map((path) => [path, entryOf('directory')]),
  );
  for (const path of ['workspace/x\xff', 'workspace/x\\xff', 'workspace/a\xff/b/c\xfe', 'workspace/a\xff/b/\xc3\xbc'])
    entries.set(path, entryOf('file'));
  const read: string[] = [];
  const tree = createWorkspaceTree({
    entries,
    fileEntryCount: entries.size,
    read: (path) => {
      read.push(path);
      return Readable.from([]);
    },
  });
  expect(tree.list([])?.map(({ path, type }) => [path, type])).toEqual([
    ['a\\xff', 'DIRECTORY'],
    ['x\\xff', 'FILE'],
  ]);
  expect(tree.list(['a\\xff', 'b'])?.map(({ path }) => path)).toEqual(['a\\xff/b/c\\xfe', 'a\\xff/b/ü']);
  for (const path of ['x\\xff', 'a\\xff/b/c\\xfe', 'a\\xff/b/ü']) tree.read(path.split('/')).destroy();
  expect(read).toEqual(['workspace/x\\xff', 'workspace/a\xff/b/c\xfe', 'workspace/a\xff/b/\xc3\xbc']);
  for (const path of ['x\xff', 'a\ud800', 'a\\xff/c', 'x\\xff/y', '']) expect(tree.find(path.split('/'))).toBeNull();
  expect(tree.find([])).toMatchObject({ name: '', path: '', type: 'DIRECTORY' });
});

it('writes bytes that are not UTF-8 as the decoder of the platform finds them', () => {
  const pieces = [
    'a',
    '\xc3\xbc',
    '\xe2\x82\xac',
    '\xf0\x9f\x92\xa5',
    '\xff',
    '\x80',
    '\xc0\x80',
    '\xed\xa0\x80',
    '\xf4\x90\x80\x80',
    '\xe0\x80',
  ];
  for (const one of pieces) {
    for (const other of pieces) {
      for (const third of ['', 'z', '\xe2\x82', '\xf0']) {
        const bytes = one + other + third;
        // Without the escapes, all parts that are left are UTF-8, in order.
        const text = decodeName(bytes);
        expect(Buffer.from(text.replaceAll(/\\x[0-9a-f]{2}/g, '')).length).toBe(
          bytes.length - (text.match(/\\x/g)?.length ?? 0),
        );
        expect(text.includes('\ufffd')).toBe(false);
        expect(text.includes('\\x')).toBe(!isTextName(bytes));
        if (isTextName(bytes)) expect(encodeName(text)).toBe(bytes);
      }
    }
  }
});
