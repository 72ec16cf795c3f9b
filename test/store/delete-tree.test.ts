import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { emptyTree } from '../../src/store/delete-tree.ts';

function makeRoot(): { readonly top: string; readonly root: string } {
  const top = mkdtempSync(join(tmpdir(), 'switchyard-delete-'));
  onTestFinished(() => rmSync(top, { recursive: true, force: true }));
  const root = join(top, 'root');
  mkdirSync(root);
  return { top, root };
}

/** Runs code as an unprivileged user if the tests run as root, which has every permission. */
const unprivileged = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

it('removes links without following them, directories without permissions, and names that are not UTF-8', async () => {
  const { top, root } = makeRoot();
  writeFileSync(join(top, 'precious'), 'stays');
  mkdirSync(join(top, 'also'));
  writeFileSync(join(top, 'also', 'precious'), 'stays');
  mkdirSync(join(root, 'a', 'b'), { recursive: true });
  symlinkSync(join(top, 'also'), join(root, 'a', 'b', 'directory'));
  symlinkSync(join(top, 'precious'), join(root, 'a', 'file'));
  symlinkSync('nowhere', join(root, 'dangling'));
  writeFileSync(Buffer.concat([Buffer.from(`${root}/a/`), Buffer.from([0xff, 0xfe, 0x2f - 1])]), 'x');
  mkdirSync(join(root, 'a', 'locked', 'inner'), { recursive: true });
  writeFileSync(join(root, 'a', 'locked', 'inner', 'file'), 'x');
  execFileSync('chmod', ['-R', '000', join(root, 'a', 'locked')]);
  const { problems } = await emptyTree(root);
  expect(problems).toEqual([]);
  expect(readdirSync(root)).toEqual([]);
  expect([existsSync(join(top, 'precious')), existsSync(join(top, 'also', 'precious'))]).toEqual([true, true]);
});

it('deletes directories of the same user without permissions', async () => {
  const { root } = makeRoot();
  const script = `
    set -e
    mkdir -p "$1/a/b/c"; echo x > "$1/a/b/c/file"
    chmod 000 "$1/a/b/c"; chmod 500 "$1/a/b"; chmod 000 "$1/a"`;
  execFileSync('chmod', ['777', root]);
  execFileSync('chmod', ['755', join(root, '..')]);
  execFileSync('sh', ['-c', script, 'sh', root], unprivileged);
  const code = `
    import { emptyTree } from ${JSON.stringify(join(import.meta.dirname, '../../src/store/delete-tree.ts'))};
    process.stdout.write(JSON.stringify(await emptyTree(process.argv[1])));`;
  const run = () =>
    execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code, root], {
      ...unprivileged,
      encoding: 'utf8',
      env: { PATH: process.env.PATH ?? '', HOME: tmpdir(), TMPDIR: root },
    });
  expect(JSON.parse(run())).toMatchObject({ problems: [] });
  expect(existsSync(join(root, 'a'))).toBe(false);
});

it('deletes a tree with paths beyond the system’s limit', async () => {
  const { root } = makeRoot();
  const name = 'd'.repeat(200);
  let deepest = join(root, name);
  mkdirSync(deepest);
  writeFileSync(join(deepest, 'file'), 'x');
  // A path may have 4,095 bytes, so each level is created above the previous one.
  for (let depth = 0; depth < 60; depth++) {
    const outer = join(root, 'outer');
    mkdirSync(outer);
    renameSync(deepest, join(outer, name));
    renameSync(outer, join(root, name));
    deepest = join(root, name);
  }
  expect(await emptyTree(root)).toMatchObject({ files: 1, problems: [] });
  expect(readdirSync(root)).toEqual([]);
});

it('deletes tens of thousands of files without blocking the event loop', async () => {
  const { root } = makeRoot();
  execFileSync('sh', ['-c', 'cd "$1" && mkdir many && cd many && seq 1 20000 | xargs touch', 'sh', root]);
  let turns = 0;
  let isDone = false;
  const turn = () => {
    turns += 1;
    if (!isDone) setImmediate(turn);
  };
  setImmediate(turn);
  const { files } = await emptyTree(root);
  isDone = true;
  expect(files).toBe(20_000);
  expect(turns).toBeGreaterThan(100);
});

const setImmutable = (flag: string, pattern: string) =>
  execFileSync('sh', ['-c', 'chattr "$1" $2', 'sh', flag, pattern], { stdio: 'ignore' });

it('reports what cannot be deleted, and stops', async () => {
  const { root } = makeRoot();
  mkdirSync(join(root, 'a', 'b'), { recursive: true });
  writeFileSync(join(root, 'a', 'b', 'kept'), 'x');
  writeFileSync(join(root, 'a', 'gone'), 'x');
  try {
    setImmutable('+i', join(root, 'a', 'b', 'kept'));
  } catch {
    return;
  }
  onTestFinished(() => {
    setImmutable('-i', join(root, '*', 'kept'));
  });
  const { problems } = await emptyTree(root);
  expect(problems).toEqual(['EPERM unlink']);
  expect(existsSync(join(root, 'a', 'gone'))).toBe(false);
});
