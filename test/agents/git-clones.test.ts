import { randomBytes } from 'node:crypto';
import { readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type CloneRequest, cloneRepository, readPushedCommits, readPushedRef } from '../../src/git/clone.ts';
import type { Mirrors } from '../../src/git/mirrors.ts';
import type { GitProgress } from '../../src/git/progress.ts';
import { runGit } from '../support/git-agent.ts';
import { cloneOf, openRemoteTo, startMirrors } from '../support/git-clones.ts';
import { forgeAccount, type GitForge, makeDirectory, plainGit, startGitForge } from '../support/git-forge.ts';

const own = 'switchyard/page-ab12cd';

async function start(files?: Readonly<Record<string, string>>) {
  const forge = await startGitForge();
  await forge.addRepository('acme/site', files);
  const mirrors = await startMirrors();
  const directory = await makeDirectory();
  const clone = (name: string, options: Partial<CloneRequest> = {}) =>
    cloneRepository(mirrors, cloneOf(forge, 'acme/site', join(directory, name), options));
  const git = async (name: string, ...args: string[]) => {
    const { code, stdout, stderr } = await runGit(join(directory, name), args, plainGit);
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    return stdout.trim();
  };
  return { forge, mirrors, directory, clone, git };
}

/** Adds a commit to a branch of the forge, and returns its id. */
async function addCommit(forge: GitForge, branch: string, subject: string): Promise<string> {
  const parent = await forge.git('acme/site', 'rev-parse', 'main');
  const commit = await forge.git('acme/site', 'commit-tree', `${parent}^{tree}`, '-p', parent, '-m', subject);
  await forge.git('acme/site', 'update-ref', `refs/heads/${branch}`, commit);
  return commit;
}

it('clones the default branch, and creates the branch of the session', async () => {
  const { forge, clone, git, directory, mirrors } = await start();
  const head = await forge.git('acme/site', 'rev-parse', 'main');
  const made = await clone('site');
  expect(made).toEqual({
    baseCommit: head,
    baseRef: 'main',
    head,
    defaultBranch: 'main',
    isContinued: false,
    borrowed: expect.stringContaining(mirrors.directory),
  });
  expect(await git('site', 'rev-parse', 'HEAD')).toBe(head);
  expect(await git('site', 'branch', '--show-current')).toBe(own);
  expect(await git('site', 'config', 'remote.origin.url')).toBe(`${forge.url}/acme/site.git`);
  expect(await git('site', 'status', '--porcelain')).toBe('');
  expect(await readFile(join(directory, 'site', '.git/objects/info/alternates'), 'utf8')).toBe(`${made.borrowed}\n`);
  expect(await git('site', 'count-objects')).toBe('0 objects, 0 kilobytes');
});

it('fetches nothing that a warm mirror has', async () => {
  const { forge, mirrors, clone } = await start();
  await clone('first');
  // Ends the work in the background.
  await mirrors.close();
  const before = forge.requests.length;
  await clone('second');
  // The capabilities, and the list of refs.
  expect(forge.requests.slice(before).map(({ method }) => method)).toEqual(['GET', 'POST']);
});

it.each(['a branch', 'a tag', 'an annotated tag', 'a commit', 'a pull request', 'a full name'])(
  'starts at %s',
  async (kind) => {
    const { forge, clone, git } = await start();
    const commit = await addCommit(forge, 'next', 'Next');
    await forge.git('acme/site', 'tag', 'v1', commit);
    await forge.git('acme/site', '-c', 'user.name=A', '-c', 'user.email=a@b.c', 'tag', '-am', 'Two', 'v2', commit);
    await forge.git('acme/site', 'update-ref', 'refs/pull/7/head', commit);
    const requested: Record<string, Partial<CloneRequest>> = {
      'a branch': { ref: 'next' },
      'a tag': { ref: 'v1' },
      'an annotated tag': { ref: 'v2' },
      'a commit': { ref: commit.slice(0, 12) },
      'a pull request': { pullRequest: 7 },
      'a full name': { ref: 'refs/heads/next' },
    };
    expect((await clone('site', requested[kind])).baseCommit).toBe(commit);
    expect(await git('site', 'log', '-1', '--format=%s')).toBe('Next');
    expect(await git('site', 'branch', '--show-current')).toBe(own);
  },
);

it('starts at a tag that has the name of a branch', async () => {
  const { forge, clone, git, mirrors } = await start();
  const tagged = await addCommit(forge, 'old', 'Tagged');
  await forge.git('acme/site', 'tag', 'next', tagged);
  await addCommit(forge, 'next', 'Next');
  expect(await clone('site', { ref: 'refs/tags/next' })).toMatchObject({ baseCommit: tagged });
  expect(await git('site', 'log', '-1', '--format=%s')).toBe('Tagged');
  await mirrors.close();
  expect(await readdir(join(mirrors.directory, '.clones'))).toEqual([]);
});

it('refuses a shallow repository, of which commits are missing', async () => {
  const { forge, clone, mirrors } = await start();
  await addCommit(forge, 'main', 'Second');
  await runGit(forge.directoryOf('acme/site'), ['rev-parse', 'main'], plainGit).then(({ stdout }) =>
    writeFile(join(forge.directoryOf('acme/site'), 'shallow'), stdout),
  );
  await expect(clone('site')).rejects.toMatchObject({ name: 'RepositoryError' });
  const mirror = await mirrors.open({ ownerId: 'enterprise-1', host: forge.host, path: 'acme/site' });
  expect(await readdir(mirror.directory)).not.toContain('shallow');
});

it('continues the branch of the session that is at the forge', async () => {
  const { forge, clone, git } = await start();
  const commit = await addCommit(forge, own, 'Half of it');
  const base = await forge.git('acme/site', 'rev-parse', 'main');
  expect(await clone('site')).toMatchObject({ baseCommit: base, isContinued: true });
  expect(await git('site', 'rev-parse', 'HEAD')).toBe(commit);
});

it('clones the state that a forced push left', async () => {
  const { forge, clone, git } = await start();
  await addCommit(forge, 'next', 'First');
  await clone('first', { ref: 'next' });
  const commit = await addCommit(forge, 'next', 'Second');
  await clone('second', { ref: 'next' });
  expect(await git('second', 'rev-parse', 'HEAD')).toBe(commit);
  expect(await git('first', 'log', '-1', '--format=%s')).toBe('First');
});

it('clones an empty repository', async () => {
  const { forge, clone, git } = await start();
  await forge.git('acme/site', 'update-ref', '-d', 'refs/heads/main');
  expect(await clone('site')).toMatchObject({ baseCommit: null, defaultBranch: null });
  expect(await git('site', 'symbolic-ref', 'HEAD')).toBe(`refs/heads/${own}`);
});

it('copies the objects for a sandbox that cannot see the mirror', async () => {
  const { clone, git, directory } = await start();
  expect(await clone('site', { borrowerId: null })).toMatchObject({ borrowed: null });
  expect(await readdir(join(directory, 'site', '.git/objects/info'))).not.toContain('alternates');
  expect(await git('site', 'fsck')).toBe('');
});

it.each([
  ['no such branch', { ref: 'nowhere' }, 'NO_REF', 'It has no branch, tag or commit "nowhere".'],
  ['an option', { ref: '--upload-pack=touch x' }, 'NO_REF', 'It has no branch, tag or commit "--upload-pack=touch x".'],
  ['a pattern', { ref: '*' }, 'NO_REF', 'It has no branch, tag or commit "*".'],
  ['no such commit', { ref: 'abcdef0123' }, 'NO_REF', 'It has no branch, tag or commit "abcdef0123".'],
  ['no such pull request', { pullRequest: 9 }, 'NO_REF', 'It has no pull request 9.'],
] as const)('names %s', async (_, requested, code, message) => {
  const { clone, directory, mirrors } = await start();
  await expect(clone('site', requested)).rejects.toMatchObject({ code, message });
  expect(await readdir(directory)).toEqual([]);
  expect(await readdir(join(mirrors.directory, '.clones')).catch(() => [])).toEqual([]);
});

it('quotes the gateway if the forge has no such repository, and shows no secret', async () => {
  const { forge, mirrors, directory } = await start();
  const request = cloneOf(forge, 'acme/gone', join(directory, 'gone'));
  const error = await cloneRepository(mirrors, request).catch((failed: unknown) => failed as Error);
  expect(error).toMatchObject({
    code: 'REMOTE',
    message: expect.stringContaining(`${forge.host} has no repository acme/gone`),
  });
  expect(JSON.stringify(error)).not.toContain(forgeAccount.password);
});

it.each([
  ['is too large', { maxFetchBytes: 100_000 }, 'TOO_LARGE'],
  ['would fill the disk', { minFreeBytes: Number.MAX_SAFE_INTEGER }, 'DISK_FULL'],
  ['takes too long', { commandMs: 1 }, 'TIMEOUT'],
] as const)('refuses a repository that %s', async (_, limits, code) => {
  const { forge, directory } = await start({ 'a.bin': randomBytes(200_000).toString('base64') });
  const small = await startMirrors(limits);
  await expect(cloneRepository(small, cloneOf(forge, 'acme/site', join(directory, 'a')))).rejects.toMatchObject({
    code,
  });
  expect(await readdir(directory)).toEqual([]);
});

it('stops when the caller aborts, and can clone afterwards', async () => {
  let hold = true;
  const forge = await startGitForge((request) => hold && request.url?.endsWith('git-upload-pack') === true);
  await forge.addRepository('acme/site');
  const mirrors = await startMirrors();
  const directory = await makeDirectory();
  const abort = new AbortController();
  const request = cloneOf(forge, 'acme/site', join(directory, 'site'), { signal: abort.signal });
  const cloning = cloneRepository(mirrors, request);
  const stopped = expect(cloning).rejects.toMatchObject({ code: 'STOPPED' });
  await expect.poll(() => forge.requests.some(({ url }) => url.endsWith('git-upload-pack'))).toBe(true);
  abort.abort();
  await stopped;
  hold = false;
  await cloneRepository(mirrors, cloneOf(forge, 'acme/site', join(directory, 'site')));
  expect(await readdir(join(directory, 'site'))).toContain('README.md');
});

it('removes a lock that a killed git left', async () => {
  const { forge, mirrors, clone, git } = await start();
  const { borrowed } = await clone('first');
  await mirrors.close();
  const commit = await addCommit(forge, 'main', 'Later');
  await writeFile(join(borrowed ?? '', '../refs/heads/main.lock'), '');
  await clone('second');
  expect(await git('second', 'rev-parse', 'HEAD')).toBe(commit);
});

it('keeps the mirrors of enterprises apart', async () => {
  const { forge, mirrors, directory, clone } = await start();
  const first = await clone('first');
  const repository = { ownerId: 'enterprise-2', host: forge.host, path: 'acme/site' };
  const second = await cloneRepository(mirrors, cloneOf(forge, 'acme/site', join(directory, 'b'), { repository }));
  expect(second.borrowed).not.toBe(first.borrowed);
  const ids = (await readdir(mirrors.directory)).filter((name) => name.startsWith('enterprise'));
  expect(ids.sort()).toEqual(['enterprise-1', 'enterprise-2']);
});

it('deletes mirrors that nobody has used or borrows', async () => {
  const { clone, mirrors } = await start();
  await clone('site');
  await mirrors.close();
  const later = Date.now() + 31 * 86_400_000;
  expect(await mirrors.sweep(Date.now(), () => Promise.resolve(false))).toMatchObject({ deleted: 0, mirrors: 1 });
  await clone('again');
  expect(await mirrors.sweep(later, () => Promise.resolve(true))).toMatchObject({ deleted: 0 });
  expect(await mirrors.sweep(later, () => Promise.resolve(false))).toMatchObject({ mirrors: 0, bytes: 0 });
  expect(await readdir(join(mirrors.directory, 'enterprise-1'))).toEqual([]);
});

it('reports progress, in percent', async () => {
  const { clone } = await start();
  const seen: GitProgress[] = [];
  await clone('site', { onProgress: (progress) => void seen.push(progress) });
  expect(seen).toContainEqual(expect.objectContaining({ phase: 'Receiving objects', percent: 100 }));
});

it('reads the commits of a push, and tells if it was forced', async () => {
  const { forge, clone, mirrors } = await start();
  await clone('site');
  const to = await addCommit(forge, own, 'Add a page');
  const push = {
    repository: { ownerId: 'enterprise-1', host: forge.host, path: 'acme/site' },
    openRemote: () => openRemoteTo(forge, 'acme/site'),
    ref: `refs/heads/${own}`,
    signal: new AbortController().signal,
  };
  expect(await readPushedCommits(mirrors, { ...push, from: null, to })).toEqual({
    subjects: ['Add a page'],
    isForced: false,
  });
  const from = await forge.git('acme/site', 'rev-parse', 'main');
  expect(await readPushedCommits(mirrors, { ...push, from, to })).toMatchObject({ isForced: false });
  expect(await readPushedCommits(mirrors, { ...push, from: to, to: from })).toMatchObject({ isForced: true });
  const unknown = 'a'.repeat(40);
  expect(await readPushedCommits(mirrors, { ...push, from: unknown, to })).toMatchObject({ isForced: null });
});

it('finds a push of which no answer came in a branch that has moved on', async () => {
  const { forge, mirrors } = await start();
  const ref = `refs/heads/${own}`;
  const set = (id: string) => forge.git('acme/site', 'update-ref', ref, id);
  const main = await forge.git('acme/site', 'rev-parse', 'main');
  const commit = (subject: string, ...parents: string[]) =>
    forge.git('acme/site', 'commit-tree', `${main}^{tree}`, '-m', subject, ...parents.flatMap((each) => ['-p', each]));
  const one = await commit('One', main);
  const other = await commit('Other', main);
  const two = await commit('Two', one);
  const merged = await commit('Merge', other, two);
  const repository = { ownerId: 'enterprise-1', host: forge.host, path: 'acme/site' };
  const read = (from: string | null, to: string | null, of = ref) => {
    const remote = { repository, openRemote: () => openRemoteTo(forge, 'acme/site') };
    return readPushedRef(mirrors, { ...remote, from, to, ref: of, signal: new AbortController().signal });
  };
  expect(await read(null, one)).toEqual({ id: null, isPushed: false });
  expect(await read(one, null)).toEqual({ id: null, isPushed: true });
  await set(main);
  expect(await read(main, one)).toEqual({ id: main, isPushed: false });
  for (const id of [one, two, merged]) {
    await set(id);
    expect(await read(main, one)).toEqual({ id, isPushed: true });
  }
  await set(other);
  expect(await read(main, one)).toEqual({ id: other, isPushed: false });
  expect(await read(main, null)).toEqual({ id: other, isPushed: false });
  // The branch has the commit of a push back in any case.
  await set(two);
  expect(await read(one, main)).toEqual({ id: two, isPushed: false });
  await set(two);
  expect(await read(two, one)).toEqual({ id: two, isPushed: false });
  // A tag does not grow.
  await forge.git('acme/site', 'update-ref', 'refs/tags/v1', two);
  expect(await read(null, one, 'refs/tags/v1')).toEqual({ id: two, isPushed: false });
});

async function cloneHostile(fill: (work: string, git: (...args: string[]) => Promise<string>) => Promise<void>) {
  const { forge, mirrors, directory } = await start();
  const work = await makeDirectory();
  const inWork = async (...args: string[]) => (await runGit(work, args, plainGit)).stdout.trim();
  await inWork('init', '-q', '-b', 'main');
  await fill(work, inWork);
  await inWork('push', '-q', forge.directoryOf('acme/site'), '+HEAD:refs/heads/main');
  const target = join(directory, 'site');
  const cloned = (m: Mirrors = mirrors) => cloneRepository(m, cloneOf(forge, 'acme/site', target));
  return { cloned, target, directory };
}

it('executes nothing of a hostile tree', async () => {
  const marker = join(await makeDirectory(), 'executed');
  const { cloned, target } = await cloneHostile(async (work, git) => {
    const files: Record<string, string> = {
      '.gitattributes': '* filter=evil diff=evil merge=evil\n*.bin filter=lfs\n',
      '.gitmodules': `[submodule "x"]\n\tpath = x\n\turl = ext::sh -c touch% ${marker}\n`,
      '.gitconfig': `[core]\n\tfsmonitor = touch ${marker}\n[filter "evil"]\n\tsmudge = touch ${marker}\n`,
      'a.bin': 'version https://git-lfs.github.com/spec/v1\n',
      'line\nbreak': 'x',
      '‮txt.exe': 'x',
    };
    for (const [name, text] of Object.entries(files)) await writeFile(join(work, name), text);
    await symlink('/etc', join(work, 'etc'));
    await git('add', '-A');
    await git('commit', '-qm', 'Attack');
  });
  await cloned().catch((error: { code?: string }) => expect(error.code).toBe('REFUSED_CONTENT'));
  expect(await readFile(marker, 'utf8').catch(() => 'absent')).toBe('absent');
  expect(await readdir(join(target, '.git', 'hooks')).catch(() => [])).toEqual([]);
});

it.each(['.git', '.GIT', 'git~1', '..'])('refuses a tree with the name %s', async (name) => {
  const { cloned, directory } = await cloneHostile(async (work, git) => {
    await writeFile(join(work, 'config'), '[core]\n\tfsmonitor = true\n');
    const blob = await git('hash-object', '-w', 'config');
    await writeFile(join(work, 'raw'), Buffer.concat([Buffer.from(`100644 ${name}\0`), Buffer.from(blob, 'hex')]));
    const tree = await git('hash-object', '-t', 'tree', '-w', '--literally', 'raw');
    const commit = await git('commit-tree', tree, '-m', 'Attack');
    await git('update-ref', 'refs/heads/main', commit);
  });
  await expect(cloned()).rejects.toMatchObject({ code: 'REFUSED_CONTENT' });
  expect(await readdir(directory)).toEqual([]);
});
