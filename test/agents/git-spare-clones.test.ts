import { once } from 'node:events';
import { readdir, readFile, stat, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openLocalMachine } from '../../src/agents/sandbox/local/local-machine.ts';
import { type CloneRequest, cloneRepository } from '../../src/git/clone.ts';
import type { Mirror } from '../../src/git/mirror.ts';
import type { MirrorLimits } from '../../src/git/mirror-limits.ts';
import { type Mirrors, openMirrors } from '../../src/git/mirrors.ts';
import { runGit } from '../support/git-agent.ts';
import { cloneOf, startMirrors } from '../support/git-clones.ts';
import { type GitForge, makeDirectory, plainGit, startGitForge } from '../support/git-forge.ts';

const files = { 'README.md': '# Site\n', 'page.js': 'export {};\n' };

async function start(limits: Partial<MirrorLimits> = {}) {
  const forge = await startGitForge();
  await forge.addRepository('acme/site', files);
  await forge.git('acme/site', 'branch', 'next', 'main');
  await forge.git('acme/site', 'tag', 'v1', 'main');
  const mirrors = await startMirrors(limits);
  const directory = await makeDirectory();
  const clone = (name: string, options: Partial<CloneRequest> = {}) =>
    cloneRepository(mirrors, cloneOf(forge, 'acme/site', join(directory, name), options));
  const git = async (name: string, ...args: string[]) => {
    const { code, stdout, stderr } = await runGit(join(directory, name), args, plainGit);
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    return stdout.trim();
  };
  /** Everything that an agent and a person see of a clone. */
  const stateOf = async (name: string) => ({
    refs: await git(name, 'for-each-ref', '--format=%(refname) %(objectname) %(symref)'),
    head: await git(name, 'symbolic-ref', 'HEAD'),
    status: await git(name, 'status', '--porcelain=v2', '--branch'),
    config: await readFile(join(directory, name, '.git/config'), 'utf8'),
    alternates: await readFile(join(directory, name, '.git/objects/info/alternates'), 'utf8'),
    files: (await readdir(join(directory, name), { recursive: true }))
      .filter((file) => !file.startsWith('.git/'))
      .sort(),
  });
  const idOf = async (path: string) => (await stat(path)).ino;
  return { forge, mirrors, directory, clone, git, stateOf, idOf };
}

/** The paths of clones that no session has yet. */
async function sparesOf({ directory }: Mirrors): Promise<string[]> {
  const clones = join(directory, '.clones');
  return (await readdir(clones).catch(() => [])).map((name) => join(clones, name));
}

/** Waits for the work in the background that follows a clone. */
async function spareOf(mirrors: Mirrors): Promise<string> {
  await expect.poll(() => sparesOf(mirrors), { timeout: 60_000 }).toHaveLength(1);
  await mirrors.spares.settled();
  const [spare = ''] = await sparesOf(mirrors);
  return spare;
}

/** Brings the mirror to the state of the forge. */
async function fetchAll(forge: GitForge, mirrors: Mirrors): Promise<Mirror> {
  const { repository, openRemote, signal } = cloneOf(forge, 'acme/site', '');
  const mirror = await mirrors.open(repository);
  const remote = await openRemote();
  await mirror.fetch(remote, ['+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*'], { signal });
  await remote.close();
  return mirror;
}

/** Adds a commit to a branch of the forge, and returns its id. */
async function addCommit(forge: GitForge, branch: string): Promise<string> {
  const tree = await forge.git('acme/site', 'hash-object', '-w', '-t', 'tree', '/dev/null');
  const commit = await forge.git('acme/site', 'commit-tree', tree, '-p', 'main', '-m', 'Move');
  await forge.git('acme/site', 'update-ref', `refs/heads/${branch}`, commit);
  return commit;
}

it('gives the next session a spare clone that is like a new one', async () => {
  const { forge, mirrors, directory, clone, stateOf, idOf } = await start();
  await fetchAll(forge, mirrors);
  const first = await clone('first');
  const id = await idOf(await spareOf(mirrors));
  expect(await clone('second')).toEqual(first);
  expect(await idOf(join(directory, 'second'))).toBe(id);
  expect(await stateOf('second')).toEqual(await stateOf('first'));
  // It has been replaced, and shares no file with a session.
  const next = await spareOf(mirrors);
  expect((await stat(join(next, 'README.md'))).nlink).toBe(1);
  expect(await idOf(next)).not.toBe(id);
});

it.each([
  ['another branch', { ref: 'next' }],
  ['a tag', { ref: 'v1' }],
  ['the default branch as its own', { branch: 'main' }],
  ['a branch that is at the forge', { branch: 'next' }],
  ['another address', { originUrl: 'https://git.test/acme/site.git' }],
])('gives a session with %s a spare clone in the state of the forge', async (_, options: Partial<CloneRequest>) => {
  const { forge, mirrors, directory, clone, stateOf, idOf } = await start();
  await clone('first');
  const id = await idOf(await spareOf(mirrors));
  await addCommit(forge, 'main');
  await addCommit(forge, 'next');
  await forge.git('acme/site', 'tag', '-f', 'v1', 'next');
  await fetchAll(forge, mirrors);
  await clone('second', options);
  expect(await idOf(join(directory, 'second'))).toBe(id);
  const plain = await startMirrors({ maxSpares: 0 });
  await fetchAll(forge, plain);
  await cloneRepository(plain, cloneOf(forge, 'acme/site', join(directory, 'plain'), options));
  const { alternates: _spare, ...second } = await stateOf('second');
  const { alternates: _plain, ...expected } = await stateOf('plain');
  expect(second).toEqual(expected);
});

it('brings a spare clone up to date in the background', async () => {
  const { forge, mirrors, directory, clone, git, idOf } = await start();
  await clone('first');
  const spare = await spareOf(mirrors);
  const id = await idOf(spare);
  const commit = await addCommit(forge, 'main');
  const request = cloneOf(forge, 'acme/site', '');
  const mirror = await fetchAll(forge, mirrors);
  mirrors.spares.prepare({ mirror, originUrl: request.originUrl, defaultBranch: 'main' });
  await mirrors.spares.settled();
  expect(await readdir(spare)).toEqual(['.git']);
  await clone('second');
  expect(await idOf(join(directory, 'second'))).toBe(id);
  expect(await git('second', 'rev-parse', 'HEAD', 'main')).toBe(`${commit}\n${commit}`);
});

it('clones without a spare that is damaged', async () => {
  const { forge, mirrors, directory, clone, stateOf } = await start();
  await fetchAll(forge, mirrors);
  await clone('first');
  const spare = await spareOf(mirrors);
  await writeFile(join(spare, '.git/of-the-spare'), '');
  await writeFile(join(spare, '.git/HEAD'), 'nonsense\n');
  await clone('second');
  expect(await readdir(join(directory, 'second/.git'))).not.toContain('of-the-spare');
  expect(await stateOf('second')).toEqual(await stateOf('first'));
});

it('clones without a spare after the default branch has changed', async () => {
  const { forge, mirrors, clone, git } = await start();
  await clone('first');
  await spareOf(mirrors);
  await forge.git('acme/site', 'symbolic-ref', 'HEAD', 'refs/heads/next');
  await clone('second');
  expect(await git('second', 'rev-parse', '--abbrev-ref', 'origin/HEAD')).toBe('origin/next');
});

it('gives a sandbox that cannot see the mirror no spare clone', async () => {
  const { mirrors, clone, git } = await start();
  await clone('first');
  const spare = await spareOf(mirrors);
  expect(await clone('second', { borrowerId: null })).toMatchObject({ borrowed: null });
  expect(await sparesOf(mirrors)).toEqual([spare]);
  expect(await git('second', 'fsck')).toBe('');
});

it('makes as many spare clones as are allowed, and removes the oldest', async () => {
  const { forge, mirrors, clone, directory } = await start({ maxSpares: 1 });
  await clone('first');
  const spare = await spareOf(mirrors);
  await forge.addRepository('acme/other', files);
  await cloneRepository(mirrors, cloneOf(forge, 'acme/other', join(directory, 'other')));
  await expect.poll(async () => (await sparesOf(mirrors)).includes(spare), { timeout: 60_000 }).toBe(false);
  const config = await readFile(join(await spareOf(mirrors), '.git/config'), 'utf8');
  expect(config).toContain('/acme/other.git');
});

it.each(['is full', 'allows none', 'takes too long'])('makes no spare clone if the machine %s', async (reason) => {
  const { bavail, bsize } = await statfs(tmpdir());
  const limits: Record<string, Partial<MirrorLimits>> = {
    'is full': { minFreeBytes: Math.round(bavail * bsize * 0.6) },
    'allows none': { maxSpares: 0 },
    'takes too long': { maxSpareWorkMs: 1 },
  };
  const { forge, mirrors, clone } = await start(limits[reason]);
  await clone('first');
  const { repository, originUrl } = cloneOf(forge, 'acme/site', '');
  mirrors.spares.prepare({ mirror: await mirrors.open(repository), originUrl, defaultBranch: 'main' });
  await mirrors.spares.settled();
  expect(await sparesOf(mirrors)).toEqual([]);
});

it('removes spare clones at the end, and those that an earlier process left', async () => {
  const { mirrors, clone } = await start();
  await clone('first');
  await spareOf(mirrors);
  const later = openMirrors(mirrors.directory, process.env.PATH ?? '');
  onTestFinished(() => later.close());
  await later.removeLeftClones();
  await expect.poll(() => sparesOf(mirrors), { timeout: 60_000 }).toEqual([]);
  // Its own spare clone is gone: it clones without one.
  await clone('second');
  await spareOf(mirrors);
  await mirrors.close();
  expect(await sparesOf(mirrors)).toEqual([]);
});

it('ends when the machine of a worker closes', async () => {
  const forge = await startGitForge();
  await forge.addRepository('acme/site', files);
  const quiet = { info: () => undefined, warn: () => undefined };
  const baseEnv = { PATH: process.env.PATH ?? '' };
  const machine = await openLocalMachine({ dataDir: await makeDirectory(), workerId: 'worker', baseEnv, log: quiet });
  const { mirrors } = machine;
  await cloneRepository(mirrors, cloneOf(forge, 'acme/site', join(await makeDirectory(), 'site')));
  await spareOf(mirrors);
  let isEnded = false;
  void mirrors.inBackground('endless', async (signal) => {
    await once(signal, 'abort');
    isEnded = true;
  });
  await machine.close();
  expect(isEnded).toBe(true);
  expect(await sparesOf(mirrors)).toEqual([]);
});
