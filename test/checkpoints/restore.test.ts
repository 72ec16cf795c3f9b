import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CheckpointContent, NewSegment, RestoreRequest, SegmentSource } from '../../src/checkpoints/driver.ts';
import { toMtime } from '../../src/checkpoints/manifest.ts';
import { restoreCheckpoint } from '../../src/checkpoints/restore/restore-checkpoint.ts';
import { removeTree } from '../../src/store/delete-tree.ts';
import { contentOf, readSegmentsIn, type WrittenEntry, writeLayer, writtenMtime } from '../support/written-segments.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'restore-'));
  for (const name of ['storage', 'spool', 'session']) mkdirSync(join(dir, name));
});
afterEach(() => removeTree(dir));

const key = randomBytes(32);
const storage = () => join(dir, 'storage');
const session = () => join(dir, 'session');
const files = (entries: Record<string, WrittenEntry>, base: string | null = null, removed: string[] = []) =>
  writeLayer(storage(), key, {
    base,
    removed,
    entries: base === null ? { workspace: null, home: null, ...entries } : entries,
  });
const ignored = (entries: Record<string, WrittenEntry>) => writeLayer(storage(), key, { layer: 'ignored', entries });

function restore(content: CheckpointContent, changes: Partial<RestoreRequest> = {}) {
  return restoreCheckpoint({
    directories: {
      workspace: join(session(), 'ws'),
      home: join(session(), 'home'),
      records: join(session(), 'records'),
    },
    content: { ...content, files: { ...content.files, files: 1_000 } },
    key,
    segments: readSegmentsIn(storage()),
    spoolDir: join(dir, 'spool'),
    owner: null,
    signal: new AbortController().signal,
    ...changes,
  });
}

/** The entries below a directory, by path with one character for each byte. */
function readTree(top: string, prefix = ''): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(Buffer.from(top, 'latin1'), { encoding: 'latin1' })) {
    // The path of what is in it is too long.
    if (name.length === 200) continue;
    const path = `${top}/${name}`;
    const bytes = Buffer.from(path, 'latin1');
    const status = lstatSync(bytes);
    const mode = (status.mode & 0o7777).toString(8);
    if (status.isDirectory()) {
      found[`${prefix}${name}`] = `directory ${mode} ${toMtime(status.mtimeMs)}`;
      Object.assign(found, readTree(path, `${prefix}${name}/`));
    } else if (status.isSymbolicLink()) {
      found[`${prefix}${name}`] = `link ${readlinkSync(bytes, 'latin1' as never)} ${toMtime(status.mtimeMs)}`;
    } else found[`${prefix}${name}`] = `file ${mode} ${toMtime(status.mtimeMs)} ${readFileSync(bytes, 'latin1')}`;
  }
  return found;
}

/** Nothing is left of a restore that failed. */
function expectNothing() {
  expect(readdirSync(session())).toEqual([]);
  expect(readdirSync(join(dir, 'spool'))).toEqual([]);
}

describe('a restore', () => {
  it('creates files with their modes, times, links, empty directories and names in any encoding', async () => {
    const large = randomBytes(1_300_000);
    const small = Object.fromEntries(
      Array.from({ length: 1_200 }, (_, n) => [`workspace/many/${n}`, Buffer.from(`content ${n}`)]),
    );
    const deep = Array.from({ length: 40 }, (_, n) => `workspace${`/${'d'.repeat(200)}`.repeat(n + 1)}`);
    const first = files({
      ...small,
      'workspace/many': null,
      'workspace/large': large,
      'workspace/replaced': Buffer.from('old'),
      'workspace/removed': null,
      'workspace/removed/file': Buffer.from('x'),
      'workspace/empty-directory': { type: 'directory', mode: 0o1777 },
      'workspace/read-only': { type: 'directory', mode: 0o555 },
      'workspace/read-only/file': { mode: 0o400, content: Buffer.from('secret') },
      'workspace/program': { mode: 0o4755, content: Buffer.from('#!') },
      'workspace/link': { type: 'link', target: '/etc/passwd', mode: 0o777 },
      'workspace/\xff\xfe \n\x01': Buffer.from('latin'),
      'workspace/\xc3\xa4': Buffer.from('utf8'),
      'workspace/to-\xe4': { type: 'link', target: '\xe4/..', mode: 0o777 },
      'home/.config': { mode: 0o600, mtime: 1_600_000_000_000_000, content: Buffer.from('configuration') },
      'home/empty': { content: Buffer.alloc(0), mtime: -1_000_000 },
      ...Object.fromEntries(deep.map((path) => [path, null])),
      [`${deep.at(-1)}/file`]: Buffer.from('deep'),
    });
    const second = files({ 'workspace/replaced': Buffer.from('new') }, first.last, ['workspace/removed']);
    const third = ignored({ 'workspace/modules': null, 'workspace/modules/a.js': Buffer.from('a') });
    const { files: count } = await restore(contentOf([first, second], [third]));
    expect(count).toBe(1_200 + 11 + 1);
    const workspace = readTree(join(session(), 'ws'));
    const time = writtenMtime;
    for (let n = 0; n < 1_200; n++) expect(workspace[`many/${n}`]).toBe(`file 644 ${time} content ${n}`);
    expect(workspace.large === `file 644 ${time} ${large.toString('latin1')}`).toBe(true);
    const shown = Object.entries(workspace).filter(([path]) => !/^(many\/|large$)/.test(path));
    expect(Object.fromEntries(shown)).toEqual({
      many: `directory 755 ${time}`,
      replaced: `file 644 ${time} new`,
      'empty-directory': `directory 1777 ${time}`,
      'read-only': `directory 555 ${time}`,
      'read-only/file': `file 400 ${time} secret`,
      program: `file 4755 ${time} #!`,
      link: `link /etc/passwd ${time}`,
      '\xff\xfe \n\x01': `file 644 ${time} latin`,
      '\xc3\xa4': `file 644 ${time} utf8`,
      'to-\xe4': `link \xe4/.. ${time}`,
      modules: `directory 755 ${time}`,
      'modules/a.js': `file 644 ${time} a`,
    });
    expect(
      execFileSync('find', [join(session(), 'ws'), '-path', '*ddd/file', '-printf', '%d %s'], { encoding: 'utf8' }),
    ).toBe('41 4');
    expect(readTree(join(session(), 'home'))).toEqual({
      '.config': 'file 600 1600000000000000 configuration',
      empty: 'file 644 -1000000 ',
    });
    expect(readdirSync(session()).sort()).toEqual(['home', 'records', 'ws']);
    expect(readdirSync(join(dir, 'spool'))).toEqual([]);
    expect(toMtime(lstatSync(join(session(), 'ws')).mtimeMs)).toBe(time);
  });

  it('refuses directories with files, and leaves them alone', async () => {
    mkdirSync(join(session(), 'home'));
    writeFileSync(join(session(), 'home/mine'), 'mine');
    await expect(restore(contentOf([files({})]))).rejects.toMatchObject({ code: 'FAILED' });
    expect(readTree(session())).toMatchObject({ 'home/mine': expect.stringContaining('mine') });
    rmSync(join(session(), 'home/mine'));
    await restore(contentOf([files({ 'home/theirs': Buffer.from('theirs') })]));
    expect(readFileSync(join(session(), 'home/theirs'), 'utf8')).toBe('theirs');
  });

  it('refuses a changed, cut, missing, swapped or replayed segment, and leaves nothing', async () => {
    const large = randomBytes(17_000_000);
    const one = files({ 'workspace/large': large, 'workspace/a': Buffer.from('a') });
    const two = files({ 'workspace/a': Buffer.from('b') }, one.last);
    const content = contentOf([one, two]);
    const [first, second] = one.segments as readonly [NewSegment, NewSegment];
    const original = readFileSync(first.path);
    const attempts: [string, () => void][] = [
      ...[0, 20, 1_000, Math.floor(first.bytes / 2), first.bytes - 1].map((at): [string, () => void] => [
        `byte ${at}`,
        () => {
          const changed = Buffer.from(original);
          changed[at] = (changed[at] ?? 0) ^ 0x80;
          writeFileSync(first.path, changed);
        },
      ]),
      ['cut', () => writeFileSync(first.path, original.subarray(0, -1))],
      ['longer', () => writeFileSync(first.path, Buffer.concat([original, Buffer.alloc(1)]))],
      ['missing', () => rmSync(first.path)],
      ['swapped', () => writeFileSync(first.path, readFileSync(second.path))],
      ['replayed', () => writeFileSync(two.segments[0]?.path as string, readFileSync(second.path))],
    ];
    const last = readFileSync(two.segments[0]?.path as string);
    for (const [name, attempt] of attempts) {
      attempt();
      const code = name === 'missing' ? 'MISSING' : 'DAMAGED';
      await expect(restore(content), name).rejects.toMatchObject({ code });
      expectNothing();
      writeFileSync(first.path, original);
      writeFileSync(two.segments[0]?.path as string, last);
    }
    await expect(restore(content, { key: randomBytes(32) })).rejects.toMatchObject({ code: 'DAMAGED' });
    await expect(restore(contentOf([two]))).rejects.toMatchObject({ code: 'DAMAGED' });
    await expect(
      restore({ ...content, files: { ...content.files, segments: content.files.manifest } }),
    ).rejects.toMatchObject({ code: 'DAMAGED' });
    await expect(restore({ ...content, files: { ...content.files, segments: ['../../x'] } })).rejects.toMatchObject({
      code: 'DAMAGED',
    });
    expectNothing();
    await restore(content);
    expect(readFileSync(join(session(), 'ws/large')).equals(large)).toBe(true);
  });

  it('refuses hostile paths, and writes nothing outside', async () => {
    const target = join(dir, 'target');
    mkdirSync(target);
    for (const entries of [
      { 'workspace/l': { target }, 'workspace/l/x': Buffer.from('x') },
      { 'workspace/../../target/x': Buffer.from('x') },
      { 'workspace/..': null, 'workspace/../x': Buffer.from('x') },
      { [`${target}/x`]: Buffer.from('x') },
      { workspace: { target } },
    ]) {
      await expect(restore(contentOf([files(entries)]))).rejects.toMatchObject({ code: 'DAMAGED' });
      expectNothing();
    }
    expect(readdirSync(target)).toEqual([]);
  });

  it('stops in the middle, while segments and threads wait', async () => {
    const content = contentOf([files({ 'workspace/large': randomBytes(17_000_000) })]);
    const working = readSegmentsIn(storage());
    const abort = new AbortController();
    const segments: SegmentSource = {
      async read(id) {
        if (id === content.files.manifest[0]) return working.read(id);
        // The storage answers, and then sends nothing.
        setImmediate(() => abort.abort());
        return new Readable({ read: () => undefined });
      },
    };
    await expect(restore(content, { segments, signal: abort.signal })).rejects.toMatchObject({ code: 'STOPPED' });
    expectNothing();
    await expect(restore(content, { signal: abort.signal })).rejects.toMatchObject({ code: 'STOPPED' });
    expectNothing();
  });

  it('fails as the storage does, at any time', async () => {
    const content = contentOf([files({ 'workspace/large': randomBytes(17_000_000) })]);
    const working = readSegmentsIn(storage());
    const failing: SegmentSource['read'][] = [
      () => Promise.reject(new Error('The network is down.')),
      async () => Readable.from([Buffer.alloc(10)]).destroy(new Error('Reset.')),
      (id) => (id === content.files.manifest[0] ? working.read(id) : Promise.reject(new Error('Reset.'))),
    ];
    for (const read of failing) {
      await expect(restore(content, { segments: { read } })).rejects.toMatchObject({ code: 'FAILED' });
      expectNothing();
    }
  });

  const asRoot = process.getuid?.() === 0 && existsSync('/bin/mount') ? it : it.skip;

  asRoot('fails on a full disk, of the files or of the spool, and leaves nothing', async () => {
    const content = contentOf([
      files({ 'workspace/large': Buffer.alloc(4_000_000, 'ab'), 'workspace/a': randomBytes(1_500_000) }),
    ]);
    for (const full of [session(), join(dir, 'spool')]) {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', full]);
      try {
        const error = await restore(content).catch((reason: unknown) => reason);
        expect(error).toMatchObject({
          code: 'FAILED',
          message: expect.stringContaining('ENOSPC'),
          cause: { code: 'ENOSPC' },
        });
        expectNothing();
      } finally {
        execFileSync('umount', [full]);
      }
    }
  });

  asRoot('gives everything to the owner', async () => {
    const content = contentOf([
      files({
        'workspace/a': { mode: 0o4755, content: Buffer.from('a') },
        'workspace/d': null,
        'workspace/l': { target: 'a' },
        'workspace/large': Buffer.alloc(600_000),
        'home/b': Buffer.alloc(0),
      }),
    ]);
    await restore(content, { owner: { uid: 12_345, gid: 23_456 } });
    const owners = execFileSync('find', [session(), '-mindepth', '1', '-printf', '%U:%G\n'], { encoding: 'utf8' });
    expect(owners).toBe('12345:23456\n'.repeat(8));
    expect(lstatSync(join(session(), 'ws/a')).mode & 0o7777).toBe(0o4755);
  });
});
