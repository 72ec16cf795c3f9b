import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type CloneRequest, cloneRepository } from '../../src/git/clone.ts';
import type { Mirror } from '../../src/git/mirror.ts';
import { isThere } from '../../src/git/mirror-files.ts';
import type { MirrorLimits } from '../../src/git/mirror-limits.ts';
import { openMirrors } from '../../src/git/mirrors.ts';
import { runGit } from '../support/git-agent.ts';
import { cloneOf, openRemoteTo, startMirrors } from '../support/git-clones.ts';
import { makeDirectory, plainGit, startGitForge } from '../support/git-forge.ts';

const { signal } = new AbortController();
const minuteMs = 60_000;

async function start(limits: Partial<MirrorLimits> = {}) {
  const forge = await startGitForge();
  await forge.addRepository('acme/site');
  const mirrors = await startMirrors(limits);
  const directory = await makeDirectory();
  const keyOf = (path: string) => ({ ownerId: 'enterprise-1', host: forge.host, path });
  return {
    forge,
    mirrors,
    directory,
    mirrorOf: (path = 'acme/site') => mirrors.open(keyOf(path)),
    clone: (name: string, options: Partial<CloneRequest> = {}, path = 'acme/site') =>
      cloneRepository(mirrors, cloneOf(forge, path, join(directory, name), { borrowerId: name, ...options })),
    /** True while the clone of a borrower is there. */
    isBorrowing: (name: string) => isThere(join(directory, name)),
    git: async (name: string, ...args: string[]) => {
      const { code, stdout, stderr } = await runGit(join(directory, name), args, plainGit);
      expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
      return stdout.trim();
    },
    /** Replaces `main` at the forge by a commit with a new file and no parent. */
    async replaceMain(content: string) {
      const work = await makeDirectory();
      await runGit(work, ['init', '-q', '-b', 'main'], plainGit);
      await writeFile(join(work, 'file'), content);
      await runGit(work, ['add', '-A'], plainGit);
      await runGit(work, ['commit', '-qm', 'Replaced'], plainGit);
      await runGit(work, ['push', '-qf', forge.directoryOf('acme/site'), 'HEAD:refs/heads/main'], plainGit);
      return (await runGit(work, ['rev-parse', 'HEAD'], plainGit)).stdout.trim();
    },
    /** Fetches `main` into the mirror. */
    async fetch(mirror: Mirror) {
      const remote = await openRemoteTo(forge, 'acme/site');
      try {
        await mirror.fetch(remote, ['+refs/heads/main:refs/heads/main'], { signal });
      } finally {
        await remote.close();
      }
    },
  };
}

const packsOf = async ({ objects }: Mirror) =>
  (await readdir(join(objects, 'pack'))).filter((name) => name.endsWith('.pack'));

it('combines packs, and keeps the objects that only a clone needs', { timeout: 180_000 }, async () => {
  const { mirrorOf, clone, git, mirrors, replaceMain, fetch } = await start();
  const mirror = await mirrorOf();
  const commits: string[] = [];
  for (let n = 0; n < 12; n++) {
    commits.push(await replaceMain(`${n}`));
    await fetch(mirror);
    if (n === 3) await clone('early');
  }
  await clone('late');
  await mirrors.close();
  expect((await packsOf(mirror)).length).toBeGreaterThanOrEqual(10);
  expect(await mirror.maintain(signal)).toBe(true);
  expect((await packsOf(mirror)).length).toBeLessThan(3);
  expect(await mirror.maintain(signal)).toBe(false);
  expect(await readFile(join(mirror.directory, 'packed-refs'), 'utf8')).toContain(' refs/heads/main\n');
  // No ref of the mirror reaches these any longer.
  for (const commit of commits) expect(await git('early', 'cat-file', '-t', commit)).toBe('commit');
  for (const name of ['early', 'late'])
    expect(await git(name, 'fsck', '--full', '--strict')).not.toMatch(/missing|broken/);
  expect(await git('early', 'rev-parse', 'HEAD')).toBe(commits[3]);
  expect(await git('early', 'status', '--porcelain')).toBe('');
  expect((await runGit(mirror.directory, ['commit-graph', 'verify'], plainGit)).code).toBe(0);
});

it('keeps loose objects that nothing reaches', async () => {
  const { mirrorOf, clone, git, mirrors } = await start();
  await clone('site');
  await mirrors.close();
  const mirror = await mirrorOf();
  await mkdir(join(mirror.objects, '..', 'many'));
  for (let n = 0; n < 1_000; n++) await writeFile(join(mirror.directory, 'many', String(n)), '');
  const file = join(mirror.directory, 'many', '1');
  const { stdout } = await runGit(mirror.directory, ['hash-object', '-w', file], plainGit);
  expect(await mirror.maintain(signal)).toBe(true);
  expect(await git('site', 'cat-file', '-t', stdout.trim())).toBe('blob');
});

it('fetches, clones and reads while it combines packs', { timeout: 300_000 }, async () => {
  const { mirrorOf, clone, git, replaceMain, fetch } = await start();
  const mirror = await mirrorOf();
  await clone('first');
  let isDone = false;
  const reading = (async () => {
    while (!isDone) await git('first', 'log', '-p', '--all');
  })();
  const last: string[] = [];
  for (let n = 0; n < 14; n++) {
    last.push(await replaceMain(`${n}`));
    await Promise.all([fetch(mirror), n > 8 && mirror.maintain(signal), n % 5 === 4 && clone(`clone-${n}`)]);
  }
  await mirror.maintain(signal);
  isDone = true;
  await reading;
  for (const name of ['first', 'clone-4', 'clone-9']) expect(await git(name, 'fsck')).not.toMatch(/missing|broken/);
  for (const commit of last) expect(await git('first', 'cat-file', '-t', commit)).toBe('commit');
  await clone('last');
  expect(await git('last', 'rev-parse', 'HEAD')).toBe(last.at(-1));
});

it('deletes the longest unused mirrors beyond the limit, and none that is borrowed or in use', async () => {
  const { forge, mirrors, mirrorOf, clone, isBorrowing, directory, git } = await start();
  const paths = ['acme/a', 'acme/b', 'acme/c', 'acme/d'];
  for (const path of paths) await forge.addRepository(path, { 'a.bin': randomBytes(300_000).toString('base64') });
  await clone('a', {}, 'acme/a');
  await clone('b', { borrowerId: null }, 'acme/b');
  await clone('c', { borrowerId: null }, 'acme/c');
  await clone('d', { borrowerId: null }, 'acme/d');
  await mirrors.close();
  const now = Date.now();
  const found = await Promise.all(paths.map((path) => mirrorOf(path)));
  // In minutes before now: the first is borrowed, the last is in use.
  for (const [n, minutes] of [400, 300, 200, 1].entries()) {
    const at = new Date(now - minutes * minuteMs);
    await utimes(join(found[n]?.directory ?? '', 'description'), at, at);
  }
  const sweepTo = async (maxTotalBytes: number) => {
    Object.assign(mirrors.limits, { maxTotalBytes });
    return mirrors.sweep(now, isBorrowing);
  };
  const left = async () => {
    const there = await Promise.all(found.map((mirror) => isThere(mirror.directory)));
    return paths.filter((_, n) => there[n]);
  };
  const { bytes } = await sweepTo(10 ** 9);
  expect(await left()).toEqual(paths);
  expect(await sweepTo(bytes - 1)).toMatchObject({ deleted: 1, mirrors: 3 });
  expect(await left()).toEqual(['acme/a', 'acme/c', 'acme/d']);
  const kept = await sweepTo(0);
  expect(kept).toMatchObject({ deleted: 1, mirrors: 2 });
  expect(kept.bytes).toBeGreaterThan(0);
  expect(await left()).toEqual(['acme/a', 'acme/d']);
  expect(await git('a', 'fsck')).toBe('');
  expect(await git('b', 'fsck')).toBe('');
  // A mirror that was deleted comes back.
  const reopened = openMirrors(mirrors.directory, process.env.PATH ?? '');
  await cloneRepository(reopened, cloneOf(forge, 'acme/b', join(directory, 'again')));
  await reopened.close();
  expect((await stat(join(directory, 'again', 'a.bin'))).size).toBe(400_000);
});

it('refuses to let a mirror grow beyond its limit, and starts over when nobody borrows it', async () => {
  const { forge, directory, clone, mirrors, mirrorOf, replaceMain, isBorrowing } = await start({
    maxMirrorBytes: 300_000,
  });
  await clone('first');
  await replaceMain(randomBytes(200_000).toString('base64'));
  await clone('second', { borrowerId: null });
  await replaceMain(randomBytes(200_000).toString('base64'));
  const message = 'It is larger than 0 GB, the most that a worker keeps.';
  await expect(clone('third')).rejects.toMatchObject({ code: 'TOO_LARGE', message });
  await mirrors.close();
  const mirror = await mirrorOf();
  expect((await readdir(join(mirror.objects, 'pack'))).filter((name) => name.startsWith('tmp_'))).toEqual([]);
  const later = Date.now() + 61 * minuteMs;
  Object.assign(mirrors.limits, { maxMirrorBytes: 100_000 });
  expect(await mirrors.sweep(later, isBorrowing)).toMatchObject({ deleted: 0, mirrors: 1 });
  expect(await mirrors.sweep(later, () => Promise.resolve(false))).toMatchObject({ deleted: 1, mirrors: 0 });
  const reopened = openMirrors(mirrors.directory, process.env.PATH ?? '', { maxMirrorBytes: 300_000 });
  await cloneRepository(reopened, cloneOf(forge, 'acme/site', join(directory, 'fourth')));
  await reopened.close();
});

it('deletes what a git that was killed left, and nothing that is new', async () => {
  const { clone, mirrors, mirrorOf, isBorrowing } = await start();
  await clone('site');
  await mirrors.close();
  const { directory, objects } = await mirrorOf();
  const names = [
    'pack/tmp_pack_a',
    'pack/tmp_idx_a',
    'pack/.tmp-1-pack-a',
    '../packed-refs.lock',
    '../refs/heads/x.lock',
  ];
  await mkdir(join(objects, '00'), { recursive: true });
  for (const name of [...names, '00/tmp_obj_a']) await writeFile(join(objects, name), 'x');
  const before = Date.now();
  expect((await mirrors.sweep(before, isBorrowing)).mirrors).toBe(1);
  expect(await readdir(join(objects, 'pack'))).toContain('tmp_pack_a');
  await mirrors.sweep(before + 2 * 3_600_000, isBorrowing);
  const left = await readdir(directory, { recursive: true });
  expect(left.filter((name) => /tmp|\.lock$/.test(name))).toEqual([]);
  expect(left.filter((name) => name.endsWith('.pack')).length).toBeGreaterThan(0);
});

it('removes a lock of the default branch that a killed git left', async () => {
  const { clone, mirrors, forge, mirrorOf } = await start();
  await clone('first');
  await mirrors.close();
  const { directory } = await mirrorOf();
  await forge.git('acme/site', 'branch', '-m', 'main', 'trunk');
  await writeFile(join(directory, 'HEAD.lock'), '');
  expect(await clone('second')).toMatchObject({ defaultBranch: 'trunk' });
  expect(await readFile(join(directory, 'HEAD'), 'utf8')).toBe('ref: refs/heads/trunk\n');
});
