import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { lstat, readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { cloneRepository } from '../../src/git/clone.ts';
import { measureMirror } from '../../src/git/mirror-files.ts';
import type { MirrorLimits } from '../../src/git/mirror-limits.ts';
import { repositoryAt, runGit, startGitAgent } from '../support/git-agent.ts';
import { cloneOf, openRemoteTo, startMirrors } from '../support/git-clones.ts';
import { makeDirectory, plainGit, startGitForge } from '../support/git-forge.ts';
import { modes, type ObjectWriter, type TreeEntry, writeObjects } from '../support/hostile-objects.ts';

const haveLfs = spawnSync('git', ['lfs', 'version']).status === 0;

async function start(fill: (objects: ObjectWriter) => Promise<unknown>, limits: Partial<MirrorLimits> = {}) {
  const forge = await startGitForge();
  await forge.addRepository('acme/site');
  await fill(writeObjects(forge, 'acme/site'));
  const mirrors = await startMirrors(limits);
  const directory = await makeDirectory();
  const target = join(directory, 'site');
  const clone = () => cloneRepository(mirrors, cloneOf(forge, 'acme/site', target));
  /** The state of the clone, as plain git sees it. */
  const status = () => runGit(target, ['status', '--porcelain'], plainGit);
  return { forge, mirrors, directory, target, clone, status };
}

const commitOf = (objects: ObjectWriter, ...entries: readonly TreeEntry[]) =>
  objects.tree(...entries).then((tree) => objects.commit(tree));

/** A tree in which each of ten levels has 32 times the same directory. */
async function bomb(objects: ObjectWriter, leaf: string): Promise<void> {
  const names = Array.from({ length: 32 }, (_, n) => `d${String(n).padStart(2, '0')}`);
  let tree = leaf;
  for (let n = 0; n < 10; n++)
    tree = await objects.tree(...names.map((name): TreeEntry => [modes.directory, name, tree]));
  await objects.commit(tree);
}

async function nested(objects: ObjectWriter, levels: number): Promise<void> {
  let tree = await objects.tree([modes.file, 'f', await objects.blob('x')]);
  for (let n = 0; n < levels; n++) tree = await objects.tree([modes.directory, 'a', tree]);
  await objects.commit(tree);
}

const refusals: Record<string, readonly [(objects: ObjectWriter) => Promise<unknown>, string]> = {
  '.git as a link': [
    async (objects) => commitOf(objects, [modes.link, '.git', await objects.blob('/etc')]),
    "Git refuses an object of it: contains '.git' (hasDotgit).",
  ],
  'hooks below .git': [
    async (objects) => {
      const hook = await objects.tree([modes.file, 'post-checkout', await objects.blob('#!/bin/sh\n')]);
      await commitOf(objects, [modes.directory, '.git', await objects.tree([modes.directory, 'hooks', hook])]);
    },
    "Git refuses an object of it: contains '.git' (hasDotgit).",
  ],
  'a link as .gitmodules': [
    async (objects) => commitOf(objects, [modes.link, '.gitmodules', await objects.blob('/etc/passwd')]),
    'Git refuses an object of it: .gitmodules is a symbolic link (gitmodulesSymlink).',
  ],
  'a submodule with an option as its address': [
    async (objects) => {
      const text = '[submodule "x"]\n\tpath = x\n\turl = --upload-pack=touch\n';
      await commitOf(objects, [modes.file, '.gitmodules', await objects.blob(text)]);
    },
    'Git refuses an object of it: disallowed submodule url: --upload-pack=touch (gitmodulesUrl).',
  ],
  'a submodule that is named ../..': [
    async (objects) => {
      const text = '[submodule "../../x"]\n\tpath = x\n\turl = https://example.com/x\n';
      await commitOf(objects, [modes.file, '.gitmodules', await objects.blob(text)]);
    },
    'Git refuses an object of it: disallowed submodule name: ../../x (gitmodulesName).',
  ],
  'a link and a directory of the same name': [
    async (objects) => {
      const hook = await objects.tree([modes.file, 'post-checkout', await objects.blob('#!/bin/sh\n')]);
      await commitOf(objects, [modes.link, 'a', await objects.blob('.git/hooks')], [modes.directory, 'a', hook]);
    },
    'Git refuses an object of it: contains duplicate file entries (duplicateEntries).',
  ],
  'a name with a slash': [
    async (objects) => commitOf(objects, [modes.file, 'a/../../x', await objects.blob('x')]),
    'Git refuses an object of it: contains full pathnames (fullPathname).',
  ],
  'a name of 300 bytes': [
    async (objects) => commitOf(objects, [modes.file, 'x'.repeat(300), await objects.blob('x')]),
    'It has a name of more than 255 bytes.',
  ],
  '10,000 nested directories': [(objects) => nested(objects, 10_000), 'It has a path that is too long.'],
  'a tree bomb': [
    async (objects) => bomb(objects, await objects.tree([modes.file, 'f', await objects.blob('x')])),
    'It has more than 1,000,000 files and directories.',
  ],
  'a tree bomb without files': [
    async (objects) => bomb(objects, await objects.tree()),
    'It has more than 1,000,000 files and directories.',
  ],
};

it.each(Object.keys(refusals))('refuses %s, and says why', { timeout: 180_000 }, async (name) => {
  const [fill, message] = refusals[name] ?? [() => Promise.resolve(), ''];
  const { clone, directory, mirrors } = await start(fill);
  await expect(clone()).rejects.toMatchObject({ message });
  expect(await readdir(directory)).toEqual([]);
  expect(await readdir(join(mirrors.directory, '.clones')).catch(() => [])).toEqual([]);
});

const mebibyte = 1_048_576;

/** 64 MiB that are named 65,536 times. On the wire it is less than 1 MB. */
async function manyTimes(objects: ObjectWriter): Promise<void> {
  const blob = await objects.blob(Buffer.alloc(64 * mebibyte));
  const names = Array.from({ length: 256 }, (_, n) => String(n).padStart(3, '0'));
  const files = await objects.tree(...names.map((name): TreeEntry => [modes.file, name, blob]));
  await objects.commit(await objects.tree(...names.map((name): TreeEntry => [modes.directory, name, files])));
}

it.each([
  ['files that are too large', {}, 'TOO_LARGE', 'Its files have more than 16 GB.'],
  [
    'files that do not fit on the disk',
    { maxTreeBytes: Number.MAX_SAFE_INTEGER },
    'DISK_FULL',
    'The worker has too little free disk space for it.',
  ],
] as const)('refuses %s before it writes them', async (_, limits, code, message) => {
  const { clone, directory } = await start(manyTimes, limits);
  await expect(clone()).rejects.toMatchObject({ code, message });
  expect(await readdir(directory)).toEqual([]);
});

it('ends a checkout that a pattern would keep busy without an end', async () => {
  const fill = async (objects: ObjectWriter) => {
    let tree = await objects.tree([modes.file, 'c', await objects.blob('x')]);
    for (let n = 0; n < 100; n++) tree = await objects.tree([modes.directory, 'a', tree]);
    const attributes = await objects.blob(`${'**/a/'.repeat(30)}b eol=crlf\n`);
    await commitOf(objects, [modes.file, '.gitattributes', attributes], [modes.directory, 'a', tree]);
  };
  const { clone, directory } = await start(fill, { checkoutMs: 3_000 });
  await expect(clone()).rejects.toMatchObject({ code: 'TIMEOUT', message: 'It took more than 3 seconds.' });
  expect(await readdir(directory)).toEqual([]);
});

it('refuses an object that needs too much memory', async () => {
  const fill = async (objects: ObjectWriter) => objects.commit(await objects.tree(), Buffer.alloc(64 * mebibyte, 'a'));
  const { clone, directory } = await start(fill, { maxMemoryBytes: 128 * mebibyte });
  await expect(clone()).rejects.toMatchObject({ code: 'TOO_LARGE', message: 'Git needs too much memory for it.' });
  expect(await readdir(directory)).toEqual([]);
});

it('clones hostile names', async () => {
  const names = ['\u001b[31mred', 'A', 'a', 'line\nbreak', 'r\u202etxt.exe', Buffer.from([0x7a, 0xff, 0xfe])];
  const { target, clone, status } = await start(async (objects) => {
    const blob = await objects.blob('x');
    await commitOf(objects, ...names.map((name): TreeEntry => [modes.file, name, blob]));
  });
  await clone();
  const found = (await readdir(target, { encoding: 'buffer' })).filter((name) => name.toString() !== '.git');
  expect(found.map((name) => name.toString('hex')).sort()).toEqual(
    names.map((name) => Buffer.from(name).toString('hex')).sort(),
  );
  expect(await status()).toMatchObject({ code: 0, stdout: '' });
});

it('shows no control character of a repository in an error', async () => {
  const { clone } = await start(async (objects) => {
    const text = '[submodule "x"]\n\tpath = x\n\turl = --\u001b[31m\u202ered\n';
    await commitOf(objects, [modes.file, '.gitmodules', await objects.blob(text)]);
  });
  await expect(clone()).rejects.toMatchObject({
    message: expect.stringMatching(/^[ -~]*disallowed submodule url: --[? ]\[31m red \(gitmodulesUrl\)\.$/),
  });
});

it('executes and asks nothing that a repository names, which plain git does', async () => {
  const directory = await makeDirectory();
  const marker = join(directory, 'executed');
  const requested: string[] = [];
  const metadata = await startGitForge((request, response) => {
    requested.push(request.url ?? '');
    response.writeHead(404).end();
    return true;
  });
  const submodules = { command: `ext::sh -c touch% ${marker}`, metadata: `${metadata.url}/latest/meta-data` };
  const { forge, clone, target, status } = await start(async (objects) => {
    const ids = Object.entries(submodules).map(
      ([name, url]) => `[submodule "${name}"]\n\tpath = ${name}\n\turl = ${url}\n`,
    );
    const commit = 'a'.repeat(40);
    const file = await objects.blob('x');
    const config = `[core]\n\tfsmonitor = touch ${marker}\n\tsshCommand = touch ${marker}\n[include]\n\tpath = .gitconfig\n`;
    await commitOf(
      objects,
      [modes.file, '.gitattributes', await objects.blob('*.txt filter=evil diff=evil merge=evil\n')],
      [modes.file, '.gitconfig', await objects.blob(config)],
      [modes.file, '.gitmodules', await objects.blob(ids.join(''))],
      [modes.file, '.lfsconfig', await objects.blob(`[lfs]\n\turl = ${metadata.url}/lfs\n`)],
      [modes.file, 'a.txt', file],
      [modes.submodule, 'command', commit],
      [modes.submodule, 'metadata', commit],
    );
  });
  await clone();
  expect(existsSync(marker)).toBe(false);
  expect(requested).toEqual([]);
  expect(await readdir(join(target, 'command'))).toEqual([]);
  expect(await status()).toMatchObject({ code: 0, stdout: '' });
  expect(await readFile(join(target, '.git', 'config'), 'utf8')).not.toMatch(/submodule|evil|include/);
  // The same repository with git's own commands.
  const plain = [
    '-c',
    'protocol.ext.allow=always',
    '-c',
    `filter.evil.smudge=touch ${marker}-filter; cat`,
    'clone',
    '-q',
  ];
  await runGit(directory, [...plain, '--recurse-submodules', forge.directoryOf('acme/site'), 'plain'], plainGit);
  expect(await readdir(directory)).toEqual(expect.arrayContaining(['executed', 'executed-filter']));
  const update = ['-C', 'plain', 'submodule', 'update', '--init', 'metadata'];
  await runGit(directory, update, plainGit);
  expect(requested).not.toEqual([]);
});

it('writes nothing through a link of the repository', async () => {
  const outside = await makeDirectory();
  const { target, clone, status } = await start(async (objects) => {
    const hook = await objects.blob('#!/bin/sh\n');
    await commitOf(
      objects,
      [modes.directory, 'A', await objects.tree([modes.file, 'post-checkout', hook])],
      [modes.link, 'a', await objects.blob('.git/hooks')],
      [modes.link, 'outside', await objects.blob(outside)],
      [modes.link, 'passwd', await objects.blob('/etc/passwd')],
      [modes.link, 'up', await objects.blob('..')],
    );
  });
  await clone();
  expect(await readlink(join(target, 'passwd'))).toBe('/etc/passwd');
  expect(await readlink(join(target, 'up'))).toBe('..');
  expect((await lstat(join(target, 'A', 'post-checkout'))).isFile()).toBe(true);
  expect(await readdir(join(target, '.git', 'hooks')).catch(() => [])).toEqual([]);
  expect(await readdir(outside)).toEqual([]);
  expect(await status()).toMatchObject({ code: 0, stdout: '' });
});

it('clones 100,000 files', { timeout: 300_000 }, async () => {
  const { target, clone } = await start(async (objects) => {
    const blob = await objects.blob('x');
    const names = Array.from({ length: 1_000 }, (_, n) => String(n).padStart(4, '0'));
    const files = await objects.tree(...names.map((name): TreeEntry => [modes.file, name, blob]));
    const directories = names.slice(0, 100).map((name): TreeEntry => [modes.directory, name, files]);
    await objects.commit(await objects.tree(...directories));
  });
  await clone();
  expect(await readdir(join(target, '0099'))).toHaveLength(1_000);
});

it('clones a file of 1 GB, of which the wire has little', { timeout: 300_000 }, async () => {
  const { target, clone, mirrors } = await start(async (objects) => {
    await commitOf(objects, [modes.file, 'zeros', await objects.blob(Buffer.alloc(1_024 * mebibyte))]);
  });
  await clone();
  expect((await lstat(join(target, 'zeros'))).size).toBe(1_024 * mebibyte);
  await mirrors.close();
});

it('clones a repository with many branches, fetches all of them, and packs them', { timeout: 300_000 }, async () => {
  const { target, clone, mirrors, forge } = await start(async (objects) =>
    commitOf(objects, [modes.file, 'a', await objects.blob('x')]),
  );
  const head = await forge.git('acme/site', 'rev-parse', 'main');
  const addBranches = (count: number) => {
    const lines = Array.from({ length: count }, (_, n) => `${head} refs/heads/b${String(n).padStart(6, '0')}\n`);
    const text = `# pack-refs with: peeled fully-peeled sorted \n${lines.join('')}${head} refs/heads/main\n`;
    return writeFile(join(forge.directoryOf('acme/site'), 'packed-refs'), text);
  };
  await addBranches(100_000);
  await clone();
  expect(await readdir(target)).toContain('a');
  await mirrors.close();
  // The request of this fetch is larger than 1 MB: git sends it in chunks, and the forge answers before it has ended.
  await addBranches(30_000);
  const reopened = await startMirrors();
  const mirror = await reopened.open({ ownerId: 'enterprise-1', host: forge.host, path: 'acme/site' });
  const remote = await openRemoteTo(forge, 'acme/site');
  const { signal } = new AbortController();
  await mirror.fetch(remote, ['+refs/heads/*:refs/heads/*'], { signal });
  await remote.close();
  expect(await measureMirror(mirror.directory)).toMatchObject({ others: expect.toSatisfy((n: number) => n > 30_000) });
  expect(await mirror.maintain(signal)).toBe(true);
  expect(await measureMirror(mirror.directory)).toMatchObject({ others: expect.toSatisfy((n: number) => n < 100) });
  expect(await mirror.has(head, signal)).toBe(true);
});

it.each(['-x', '--upload-pack=touch'])('clones the default branch %s', async (name) => {
  const { clone, forge } = await start(async (objects) =>
    commitOf(objects, [modes.file, 'a', await objects.blob('x')]),
  );
  const head = await forge.git('acme/site', 'rev-parse', 'main');
  await forge.git('acme/site', 'update-ref', `refs/heads/${name}`, head);
  await forge.git('acme/site', 'symbolic-ref', 'HEAD', `refs/heads/${name}`);
  expect(await clone()).toMatchObject({ baseRef: name, defaultBranch: name, baseCommit: head });
});

it.runIf(haveLfs)('gives the host of an .lfsconfig no key', async () => {
  const headers: IncomingHttpHeaders[] = [];
  const other = await startGitForge((request, response) => {
    headers.push(request.headers);
    response.writeHead(404).end();
    return true;
  });
  const forge = await startGitForge();
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'c'.repeat(64)}\nsize 5\n`;
  await forge.addRepository('acme/site', {
    '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n',
    '.lfsconfig': `[lfs]\n\turl = ${other.url}/lfs\n`,
    'a.bin': pointer,
  });
  const agent = await startGitAgent([repositoryAt(forge.url, 'acme/site')]);
  await agent.git('', 'clone', '-q', `${forge.url}/acme/site`, 'site');
  const pulled = await agent.git('site', 'lfs', 'pull');
  expect(pulled.code).not.toBe(0);
  expect(headers).not.toEqual([]);
  const sent = JSON.stringify(headers);
  expect(headers.map(({ authorization }) => authorization)).toEqual(headers.map(() => undefined));
  expect(sent).not.toContain(agent.gateway.key);
  expect(sent).not.toContain(Buffer.from(`switchyard:${agent.gateway.key}`).toString('base64'));
});
