import { expect, it } from 'vitest';
import { treeRows } from '../../../web/src/changes/tree-rows.ts';

const files = (...paths: string[]) => paths.map((path, index) => ({ key: String(index), path }));
const brief = (rows: ReturnType<typeof treeRows>) => rows.map(({ level, name }) => `${'  '.repeat(level - 1)}${name}`);

it('keeps the order of the files, and joins folders with a single folder', () => {
  const rows = treeRows(
    files('README.md', 'src/main/java/App.java', 'src/main/java/Util.java', 'manual/a.md', 'manual/b/c.md'),
    new Set(),
  );
  expect(brief(rows)).toEqual([
    'README.md',
    'src/main/java',
    '  App.java',
    '  Util.java',
    'manual',
    '  a.md',
    '  b',
    '    c.md',
  ]);
  expect(rows[4]).toMatchObject({ type: 'folder', isOpen: true, count: 2, position: 3, setSize: 3, parent: null });
  expect(rows[7]).toMatchObject({ type: 'file', key: '4', parent: 'folder:manual/b/' });
});

it('leaves out the content of closed folders', () => {
  const all = files('a/b/1', 'a/2', 'c');
  expect(brief(treeRows(all, new Set(['folder:a/'])))).toEqual(['a', 'c']);
  expect(brief(treeRows(all, new Set(['folder:a/b/'])))).toEqual(['a', '  b', '  2', 'c']);
});

it('keeps files with equal paths apart, and hostile paths small', () => {
  const deep = `${'d/'.repeat(2_000)}x`;
  const rows = treeRows(files('\uFFFD', '\uFFFD', '__proto__/constructor', `${deep}`, `${deep}y`), new Set());
  expect(rows.filter(({ name }) => name === '\uFFFD').map(({ key }) => key)).toEqual(['0', '1']);
  expect(Math.max(...rows.map(({ level }) => level))).toBeLessThanOrEqual(41);
  expect(rows.map(({ name }) => name)).toContain('__proto__');
});
