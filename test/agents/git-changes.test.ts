import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { FileChange, Hunk } from '../../src/git/diff/file-change.ts';
import { makeDirectory } from '../support/git-forge.ts';
import { type BorrowingClone, gitIn, makeClone, writeFiles } from '../support/git-snapshots.ts';
import { runs, seed } from '../support/property-runs.ts';

const text = (...lines: string[]) => lines.map((line) => `${line}\n`).join('');
const twenty = text(...Array.from({ length: 20 }, (_, n) => `line ${n}`));

async function changesOf(clone: BorrowingClone, options?: Parameters<BorrowingClone['snapshot']>[0]) {
  return (await clone.snapshot(options)).changes();
}

const briefly = ({ path, oldPath, status, additions, deletions, isBinary, size }: FileChange) =>
  [path, oldPath, status, additions, deletions, isBinary, size] as const;

/** Applies hunks to a text, as a reader of the changes would. */
function apply(old: string, hunks: readonly Hunk[]): string {
  const lines = old === '' ? [] : old.replace(/\n$/, '').split('\n');
  const endsInLine = old === '' || old.endsWith('\n');
  const result: string[] = [];
  let [at, isWhole] = [0, endsInLine];
  for (const hunk of hunks) {
    const start = hunk.oldLines === 0 ? hunk.oldStart : hunk.oldStart - 1;
    while (at < start) result.push(lines[at++] ?? '');
    expect(result.length).toBe(hunk.newLines === 0 ? hunk.newStart : hunk.newStart - 1);
    let last = '';
    for (const line of hunk.lines) {
      if (line.startsWith('\\')) {
        if (last !== '-') isWhole = false;
        continue;
      }
      last = line[0] ?? '';
      if (last !== '+') expect(lines[at++]).toBe(line.slice(1));
      if (last !== '-') result.push(line.slice(1));
    }
    if (at === lines.length && !hunk.lines.some((line, n) => line.startsWith('\\') && hunk.lines[n - 1]?.[0] !== '-'))
      isWhole = true;
  }
  while (at < lines.length) result.push(lines[at++] ?? '');
  return result.length === 0 ? '' : result.join('\n') + (isWhole ? '\n' : '');
}

it('compares committed, changed, new and removed files with the base', async () => {
  const clone = await makeClone({
    'kept.txt': 'kept\n',
    'changed.txt': twenty,
    'gone.txt': 'gone\n',
    'old-name.txt': twenty.replace('line 3', 'line three'),
    'run.sh': 'echo\n',
    'image.bin': Buffer.from([0, 1, 2]),
    link: 'no link\n',
    '.gitignore': 'ignored/\n*.log\n',
  });
  await clone.write({
    'changed.txt': twenty.replace('line 2\n', 'two\n').replace('line 18\n', ''),
    'new.txt': 'no line feed',
    'ignored/file': 'x',
    'some.log': 'x',
    'empty.txt': '',
    'image.bin': Buffer.from([0, 1, 2, 3]),
  });
  await rename(join(clone.clone, 'old-name.txt'), join(clone.clone, 'new-name.txt'));
  await rm(join(clone.clone, 'gone.txt'));
  await rm(join(clone.clone, 'link'));
  await symlink('/etc/passwd', join(clone.clone, 'link'));
  await chmod(join(clone.clone, 'run.sh'), 0o755);
  await clone.write({ 'committed.txt': 'a\nb\n' });
  await clone.git('add', 'committed.txt');
  await clone.git('commit', '-qm', 'Add');
  const head = (await clone.git('rev-parse', 'HEAD')).trim();
  const changes = await changesOf(clone);
  expect(changes.files.map(briefly)).toEqual([
    ['changed.txt', null, 'MODIFIED', 1, 2, false, twenty.length - 11],
    ['committed.txt', null, 'ADDED', 2, 0, false, 4],
    ['empty.txt', null, 'ADDED', 0, 0, false, 0],
    ['gone.txt', null, 'DELETED', 0, 1, false, 5],
    ['image.bin', null, 'MODIFIED', null, null, true, 4],
    ['link', null, 'TYPE_CHANGED', 1, 1, false, 11],
    ['new-name.txt', 'old-name.txt', 'RENAMED', 0, 0, false, twenty.length + 4],
    ['new.txt', null, 'ADDED', 1, 0, false, 12],
    ['run.sh', null, 'MODIFIED', 0, 0, false, 5],
  ]);
  const { files, ...figures } = changes;
  expect(figures).toEqual({ head, fileCount: 9, additions: 5, deletions: 4, isTruncated: false });
  expect(files[0]?.hunks).toEqual([
    {
      oldStart: 1,
      oldLines: 6,
      newStart: 1,
      newLines: 6,
      heading: '',
      lines: [' line 0', ' line 1', '-line 2', '+two', ' line 3', ' line 4', ' line 5'],
    },
    {
      oldStart: 16,
      oldLines: 5,
      newStart: 16,
      newLines: 4,
      heading: 'line 14',
      lines: [' line 15', ' line 16', ' line 17', '-line 18', ' line 19'],
    },
  ]);
  expect(files[5]?.hunks?.map(({ lines }) => lines)).toEqual([
    ['-no link'],
    ['+/etc/passwd', '\\ No newline at end of file'],
  ]);
  expect(files[7]?.hunks?.[0]?.lines).toEqual(['+no line feed', '\\ No newline at end of file']);
  expect([files[4]?.hunks, files[8]?.hunks, files[8]?.oldMode, files[8]?.mode]).toEqual([null, [], '100644', '100755']);
});

it('finds no changes in a fresh clone, and all files without a base', async () => {
  const clone = await makeClone({ 'a.txt': 'a\n' });
  expect(await changesOf(clone)).toEqual({
    head: clone.base,
    files: [],
    fileCount: 0,
    additions: 0,
    deletions: 0,
    isTruncated: false,
  });
  const all = await changesOf(clone, { base: null });
  expect(all.files.map(briefly)).toEqual([['a.txt', null, 'ADDED', 1, 0, false, 2]]);
});

// Bytes of each kind that git quotes, and characters that change the direction of a text.
const nameParts = ['a', 'b', ' ', '\n', '\t', '"', '\\', '\u202e', 'é', '😀', '->', ' b/', '\x01', "'", '*', ':'];
const name = fc
  .array(fc.constantFrom(...nameParts), { minLength: 1, maxLength: 5 })
  .map((parts) => `n${parts.join('').replaceAll('/', '')}`);
const path = fc.array(name, { minLength: 1, maxLength: 2 }).map((names) => names.join('/'));
const lineOf = fc.constantFrom(
  'a',
  'b',
  '',
  '-',
  '+x',
  '-- a/x',
  '++ b/x',
  '\\ No',
  '@@ -1 +1 @@',
  'diff --git a/x b/x',
  'c\r',
  'é',
  '\t',
);
const content = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(fc.array(lineOf, { maxLength: 14 }), fc.boolean())
      .map(([lines, isOpen]) => lines.join('\n') + (isOpen ? '' : '\n')),
  },
  { weight: 1, arbitrary: fc.constantFrom('', 'a\0b', 'a\0c', '\n\n') },
);
const tree = fc.dictionary(path, content, { maxKeys: 6 });

// A file and a directory cannot have the same name.
function possible(files: Readonly<Record<string, string>>): Record<string, string> {
  const names = Object.keys(files);
  return Object.fromEntries(
    Object.entries(files).filter(([each]) => !names.some((other) => other.startsWith(`${each}/`))),
  );
}

it('agrees with git about arbitrary changes', { timeout: 180_000 }, async () => {
  const states = fc.record({ before: tree, changed: tree, keep: fc.array(fc.boolean(), { maxLength: 6 }) });
  const property = fc.asyncProperty(states, async ({ before: drawn, changed, keep }) => {
    const before = possible(drawn);
    const kept = Object.entries(before).filter((_, n) => keep[n] ?? true);
    // Some of the new files have the content of removed ones.
    const after = possible({ ...Object.fromEntries(kept), ...changed });
    const clone = await makeClone(before);
    for (const entry of await readdir(clone.clone))
      if (entry !== '.git') await rm(join(clone.clone, entry), { recursive: true });
    await clone.write(after);
    const snapshot = await clone.snapshot({ confine: null });
    const { files } = await snapshot.changes();
    const patch = await buffer(snapshot.patch());
    await snapshot.close();
    // The tree, by the patch.
    const applied = await makeDirectory();
    await gitIn(clone.root, 'clone', '-q', clone.mirror, join(applied, 'clone'));
    await writeFile(join(applied, 'patch'), patch);
    const target = join(applied, 'clone');
    if (patch.length > 0) await gitIn(target, 'apply', '--index', '--whitespace=nowarn', join(applied, 'patch'));
    const real = await clone.realTree();
    expect((await gitIn(target, 'write-tree')).trim()).toBe(real);
    // The table, by git's figures.
    const raw = ['diff-tree', '-r', '-z', '-M', '--numstat', clone.base, real];
    const figures = (await clone.git(...raw)).split('\0').filter((field) => field !== '');
    const expected: unknown[] = [];
    for (let n = 0; n < figures.length; n++) {
      const [, additions, deletions, same] = /^(\d+|-)\t(\d+|-)\t([\s\S]*)$/.exec(figures[n] ?? '') ?? [];
      const [oldPath, now] = same === '' ? [figures[++n], figures[++n]] : [null, same];
      expected.push([now, oldPath, additions, deletions]);
    }
    const figure = (count: number | null) => String(count ?? '-');
    expect(files.map((file) => [file.path, file.oldPath, figure(file.additions), figure(file.deletions)])).toEqual(
      expected,
    );
    // The content, by the hunks.
    for (const { path: at, oldPath, hunks, additions, deletions } of files) {
      if (hunks === null) continue;
      const lines = hunks.flatMap((hunk) => hunk.lines);
      expect([additions, deletions]).toEqual(['+', '-'].map((sign) => lines.filter((line) => line[0] === sign).length));
      expect(apply(before[oldPath ?? at] ?? '', hunks)).toBe(after[at] ?? '');
    }
  });
  await fc.assert(property, { ...runs(12), seed });
});

it('executes nothing that the repository configures', async () => {
  const clone = await makeClone({ 'a.txt': 'a\n', '.gitattributes': '* filter=evil diff=evil merge=evil\n' });
  const canary = join(clone.root, 'canary');
  const evil = join(clone.clone, '.git', 'evil');
  await writeFile(evil, `#!/bin/sh\necho "$0 $*" >> ${canary}\necho\n`, { mode: 0o755 });
  for (const setting of ['filter.evil.clean', 'filter.evil.smudge', 'diff.evil.textconv', 'diff.evil.command'])
    await clone.git('config', setting, evil);
  for (const setting of ['core.fsmonitor', 'core.sshCommand', 'core.pager', 'diff.external', 'core.editor'])
    await clone.git('config', setting, evil);
  await clone.git('config', 'core.worktree', clone.root);
  for (const hook of ['post-index-change', 'pre-commit', 'reference-transaction', 'fsmonitor-watchman'])
    await writeFile(join(clone.clone, '.git', 'hooks', hook), `#!/bin/sh\ntouch ${canary}\n`, { mode: 0o755 });
  await clone.write({ 'a.txt': 'b\n', 'new.txt': 'new\n' });
  const snapshot = await clone.snapshot();
  expect((await snapshot.changes()).files.map(({ path: at }) => at)).toEqual(['a.txt', 'new.txt']);
  expect((await buffer(snapshot.patch())).toString()).toContain('+new');
  await snapshot.bundle('work');
  await snapshot.close();
  expect(existsSync(canary)).toBe(false);
  // The same files make git itself execute the program.
  await clone.git('config', '--unset', 'core.worktree');
  await clone.git('diff').catch(() => undefined);
  expect(existsSync(canary)).toBe(true);
});

it('reads no file outside of the workspace', async () => {
  const secret = 'canary of another tenant';
  const clone = await makeClone({ 'dir/a.txt': 'a\n', '.gitignore': 'x\n', 'pipe.txt': 'p\n', 'sub/b.txt': 'b\n' });
  const other = join(clone.root, 'other');
  await mkdir(other);
  await gitIn(other, 'init', '-q');
  await writeFiles(other, { 'a.txt': secret, '.gitignore': '*\n', secret });
  await gitIn(other, 'add', '-Af');
  await gitIn(other, 'commit', '-qm', secret);
  await rm(join(clone.clone, 'dir'), { recursive: true });
  await symlink(other, join(clone.clone, 'dir'));
  await rm(join(clone.clone, '.gitignore'));
  await symlink(join(other, '.gitignore'), join(clone.clone, '.gitignore'));
  await rm(join(clone.clone, 'pipe.txt'));
  execFileSync('mkfifo', [join(clone.clone, 'pipe.txt'), join(clone.clone, 'new-pipe')]);
  await clone.write({ 'nested/.git': `gitdir: ${other}/.git\n`, 'nested/c.txt': 'c\n' });
  await rm(join(clone.clone, '.git'), { recursive: true });
  await symlink(join(other, '.git'), join(clone.clone, '.git'));
  const snapshot = await clone.snapshot();
  const changes = await snapshot.changes();
  expect(JSON.stringify(changes) + (await buffer(snapshot.patch())).toString()).not.toContain(secret);
  expect(changes.head).toBeNull();
  expect(changes.files.map(({ path: at, status }) => [at, status])).toEqual(
    expect.arrayContaining([
      ['.gitignore', 'TYPE_CHANGED'],
      ['dir', 'ADDED'],
      ['dir/a.txt', 'DELETED'],
      ['pipe.txt', 'DELETED'],
    ]),
  );
  expect(await snapshot.bundle('work')).toBeNull();
  await symlink(clone.clone, join(clone.workspace, 'linked'));
  await symlink(clone.root, join(clone.workspace, 'parent'));
  for (const directory of ['linked', 'parent/other', '../other'])
    await expect(clone.snapshot({ directory })).rejects.toMatchObject({ code: 'REFUSED_CONTENT' });
});

it('bundles the new commits, and none that other objects are needed for', async () => {
  const clone = await makeClone({ 'a.txt': 'a\n' });
  const fresh = await clone.snapshot();
  expect(await fresh.bundle('work')).toBeNull();
  await clone.write({ 'a.txt': 'b\n' });
  await clone.git('commit', '-qam', 'Change');
  const head = (await clone.git('rev-parse', 'HEAD')).trim();
  const snapshot = await clone.snapshot();
  const bundle = await snapshot.bundle('work');
  if (bundle === null) throw new Error('There is no bundle.');
  await writeFile(join(clone.root, 'work.bundle'), await buffer(bundle));
  await gitIn(clone.mirror, 'fetch', '-q', join(clone.root, 'work.bundle'), 'refs/heads/work:refs/heads/received');
  expect((await gitIn(clone.mirror, 'rev-parse', 'received')).trim()).toBe(head);
  const alternates = join(clone.clone, '.git/objects/info/alternates');
  await writeFile(alternates, `${join(clone.mirror, 'objects')}\n${join(clone.root, 'source/.git/objects')}\n`);
  await expect(snapshot.bundle('work')).rejects.toMatchObject({ code: 'REFUSED_CONTENT' });
  await rm(alternates);
  await symlink(join(clone.root, 'source/.git/objects'), alternates);
  await expect(snapshot.bundle('work')).rejects.toMatchObject({ code: 'REFUSED_CONTENT' });
});

it('compares with an earlier state, and does without one that it cannot restore', async () => {
  const clone = await makeClone({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
  await clone.write({ 'a.txt': 'a\nearlier\n', 'new.txt': 'new\n', 'image.bin': Buffer.from([0, 1, 2]) });
  await writeFile(join(clone.clone, 'large.bin'), '');
  await truncate(join(clone.clone, 'large.bin'), 2 ** 30);
  const first = await clone.snapshot();
  const patch = await buffer(first.patch());
  expect(await first.changesSince()).toBeNull();
  await clone.write({ 'a.txt': 'a\nlater\n', 'b.txt': 'c\n' });
  await rm(join(clone.clone, 'new.txt'));
  const since = { patch, unread: [['large.bin', 2 ** 30]] as const };
  const second = await clone.snapshot({ since });
  const changes = await second.changesSince();
  expect(changes?.files.map(briefly)).toEqual([
    ['a.txt', null, 'MODIFIED', 1, 1, false, 8],
    ['b.txt', null, 'MODIFIED', 1, 1, false, 2],
    ['new.txt', null, 'DELETED', 0, 1, false, 4],
  ]);
  expect(changes).toMatchObject({ fileCount: 3, isTruncated: false });
  expect((await second.changes()).files.map(({ path: at }) => at)).toContain('large.bin');
  const broken = await clone.snapshot({ since: { patch: Buffer.from('no patch'), unread: [] } });
  expect(await broken.changesSince()).toBeNull();
  expect((await broken.changes()).files).toHaveLength(4);
});

it('keeps to its limits, and says so', { timeout: 240_000 }, async () => {
  const long = text(...Array.from({ length: 400 }, (_, n) => `${n} ${'x'.repeat(20)}`));
  const clone = await makeClone({ 'a.txt': 'a\n', 'large.bin': 'small\n' });
  await clone.write({ 'a.txt': 'b\n', 'b.txt': long, 'c.txt': 'c\n', 'd.txt': 'd\n', 'e.txt': 'e\n', 'large.bin': '' });
  await truncate(join(clone.clone, 'large.bin'), 2 ** 40);
  await writeFile(join(clone.clone, 'new.bin'), '');
  await truncate(join(clone.clone, 'new.bin'), 2 ** 30);
  const changes = await changesOf(clone, {
    limits: { maxTextBytes: 1_000, maxFiles: 4, maxNames: 2, timeoutMs: 20_000 },
  });
  expect(changes.files.map(briefly)).toEqual([
    ['a.txt', null, 'MODIFIED', 1, 1, false, 2],
    ['b.txt', null, 'ADDED', 400, 0, false, long.length],
    ['c.txt', null, 'ADDED', 1, 0, false, 2],
    ['d.txt', null, 'ADDED', 1, 0, false, 2],
    ['large.bin', null, 'MODIFIED', null, null, true, 2 ** 40],
    ['e.txt', null, 'ADDED', null, null, true, 2],
  ]);
  expect(changes.files.map(({ hunks }) => hunks?.length ?? null)).toEqual([1, null, 1, 1, null, null]);
  expect(changes).toMatchObject({ fileCount: 7, isTruncated: true, additions: 403, deletions: 1 });
  await expect(changesOf(clone, { limits: { maxEntries: 1 } })).rejects.toMatchObject({ code: 'TOO_LARGE' });
  await expect(changesOf(clone, { limits: { timeoutMs: 1 } })).rejects.toMatchObject({ code: 'TIMEOUT' });
  const stopped = AbortSignal.abort();
  await expect(changesOf(clone, { signal: stopped })).rejects.toMatchObject({ code: 'STOPPED' });
  expect(await readdir(join(clone.root, 'temporary'))).toHaveLength(1);
});

it('ends a comparison that a pattern would keep busy without an end', async () => {
  const clone = await makeClone({ 'a.txt': 'a\n' });
  const deep = Array.from({ length: 100 }, () => 'a').join('/');
  await clone.write({ '.gitignore': `${'**/a/'.repeat(30)}b\n`, [`${deep}/c`]: 'x' });
  await expect(changesOf(clone, { limits: { timeoutMs: 3_000 } })).rejects.toMatchObject({ code: 'TIMEOUT' });
});

it('ends a stream that nobody reads, and deletes its files', async () => {
  const clone = await makeClone({ 'a.txt': 'a\n' });
  await clone.write({ 'a.txt': twenty.repeat(20_000) });
  const snapshot = await clone.snapshot();
  const patch = snapshot.patch();
  const failed = new Promise((resolve) => patch.once('error', resolve));
  await new Promise((resolve) => patch.once('readable', resolve));
  await snapshot.close();
  expect(await failed).toMatchObject({ code: 'STOPPED' });
  expect(await readdir(join(clone.root, 'temporary'))).toEqual([]);
});
