import {
  appendFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CheckpointContent, SavedState, SaveLimits } from '../../../src/checkpoints/driver.ts';
import { SessionSaver } from '../../../src/checkpoints/save/session-saver.ts';
import { createSaveFixture, readDirectories, readSaved, type SaveFixture } from '../../support/save-fixture.ts';

let fixture: SaveFixture;
beforeEach(() => {
  fixture = createSaveFixture();
});
afterEach(() => fixture.remove());

const at = (path: string) => join(fixture.dir, path);
const write = (path: string, content: string | Buffer) => writeFileSync(at(path), content);

/** Saves with other limits, and runs `act` each time when other work may run: the number of times so far is its argument. */
async function save(
  saver: SessionSaver,
  act: (turn: number) => void = () => undefined,
  withIgnored = true,
): Promise<SavedState> {
  let turn = 0;
  const pause = () => {
    act(turn++);
    return null;
  };
  const saved = await saver.save({ withIgnored, pause });
  if (saved === null) throw new Error('Nothing was saved.');
  fixture.upload(saved);
  saver.commit();
  return saved;
}

function openSaver(limits: Partial<SaveLimits> = {}): SessionSaver {
  return new SessionSaver({ ...fixture, from: null, limits: { ...fixture.limits, ...limits } });
}

const read = (content: CheckpointContent) => readSaved(fixture, content);

describe('a directory that the agent replaces during a save', () => {
  const swaps: Record<string, () => void> = {
    'a directory by a link to a directory outside': () => {
      renameSync(at('workspace/a'), at('gone'));
      symlinkSync(at('outside'), at('workspace/a'));
    },
    'an inner directory by a link to a directory outside': () => {
      renameSync(at('workspace/a/b'), at('gone'));
      symlinkSync(at('outside/b'), at('workspace/a/b'));
    },
    'a file by a link to a file outside': () => {
      rmSync(at('workspace/a/b/file'));
      symlinkSync(at('outside/b/file'), at('workspace/a/b/file'));
    },
    'a file by a directory': () => {
      rmSync(at('workspace/a/b/file'));
      mkdirSync(at('workspace/a/b/file'));
    },
  };

  it.each(Object.keys(swaps))('never reads outside: %s', async (name) => {
    // The last rounds swap after the end of the save, which then has everything.
    for (let swapAt = 0; swapAt < 12; swapAt++) {
      await fixture.remove();
      fixture = createSaveFixture();
      mkdirSync(at('outside/b'), { recursive: true });
      mkdirSync(at('workspace/a/b'), { recursive: true });
      mkdirSync(at('workspace/z'));
      for (const path of ['b/file', 'file']) {
        write(`outside/${path}`, 'secret of the host');
        write(`workspace/a/${path}`, 'content of the agent');
      }
      write('workspace/z/last', 'last');
      const saver = openSaver();
      let isSwapped = false;
      const swap = () => {
        isSwapped = true;
        swaps[name]?.();
      };
      const saved = await save(saver, (turn) => {
        if (turn === swapAt) swap();
      });
      const contents = [...(await read(saved.content)).values()].map(({ content }) => content);
      expect(contents).not.toContain('secret of the host');
      if (!isSwapped) continue;
      const next = await saver.save({ withIgnored: true, pause: () => null });
      if (next !== null) fixture.upload(next);
      expect(await read((next ?? saved).content)).toEqual(readDirectories(fixture));
    }
  });
});

it('rejects a save of a workspace that is gone or was replaced by a link, and records no empty one', async () => {
  write('workspace/file', 'content');
  const saver = openSaver();
  await save(saver);
  renameSync(at('workspace'), at('gone'));
  await expect(save(saver)).rejects.toMatchObject({ code: 'ENOENT' });
  symlinkSync(at('gone'), at('workspace'));
  await expect(save(saver)).rejects.toMatchObject({ code: 'ENOTDIR' });
  rmSync(at('workspace'));
  renameSync(at('gone'), at('workspace'));
  expect(await saver.save({ withIgnored: true, pause: () => null })).toBeNull();
});

describe('files that change during a save', () => {
  const large = 1_500_000;

  it('reads a file again that changed once', async () => {
    write('workspace/file', Buffer.alloc(large, 'a'));
    const saved = await save(openSaver(), (turn) => {
      if (turn === 2) write('workspace/file', Buffer.alloc(large, 'b'));
    });
    expect(saved.missing).toEqual([]);
    expect(await read(saved.content)).toEqual(readDirectories(fixture));
  });

  it('names a file that changes all the time, and saves it when it is quiet', async () => {
    write('workspace/file', Buffer.alloc(large, 'a'));
    const saver = openSaver();
    const saved = await save(saver, () => appendFileSync(at('workspace/file'), 'more'));
    expect(saved.missing).toEqual([
      { path: 'workspace/file', reason: 'CHANGING', bytes: expect.any(Number), files: 1 },
    ]);
    expect(saved.content.files.missing).toEqual(saved.missing);
    const next = await save(saver);
    expect(next.missing).toEqual([]);
    expect(await read(next.content)).toEqual(readDirectories(fixture));
  });

  it('reads little more of a file than it had in the scan', async () => {
    write('workspace/small', 'file');
    const grow = () => truncateSync(at('workspace/small'), 2 ** 30);
    const saver = openSaver({ maxFileBytes: 2 ** 20 });
    const saved = await save(saver, (turn) => {
      if (turn === 4) grow();
    });
    expect(saved.missing).toEqual([{ path: 'workspace/small', reason: 'CHANGING', bytes: 2 ** 30, files: 1 }]);
    const size = (await read(saved.content)).get('workspace/small')?.content?.length ?? 0;
    expect(size).toBeLessThanOrEqual(2 ** 26 + 4);
    const again = await save(saver);
    expect(again.missing).toEqual([{ path: 'workspace/small', reason: 'TOO_LARGE', bytes: 2 ** 30, files: 1 }]);
  });

  it('saves a file that was cut to nothing meanwhile', async () => {
    write('workspace/file', Buffer.alloc(large, 'a'));
    const saved = await save(openSaver(), (turn) => {
      if (turn === 2) truncateSync(at('workspace/file'), 0);
    });
    expect(await read(saved.content)).toEqual(readDirectories(fixture));
  });
});

describe('databases of SQLite', () => {
  const header = Buffer.from('SQLite format 3\0');
  const database = (fill: string) => Buffer.concat([header, Buffer.alloc(2 ** 21 - header.length, fill)]);
  const log = (salt: string, frames: number) => Buffer.from(salt.repeat(32) + 'frame'.repeat(frames));

  beforeEach(() => {
    write('home/agent.db', database('a'));
    write('home/agent.db-wal', log('1', 3));
    write('home/agent.db-shm', Buffer.alloc(32_768));
  });

  it('saves a database whose log grows, without its shared memory', async () => {
    const saved = await save(openSaver(), (turn) => {
      if (turn > 2) appendFileSync(at('home/agent.db-wal'), 'frame');
    });
    expect(saved.missing).toEqual([]);
    const found = await read(saved.content);
    expect([...found.keys()].filter((path) => path.startsWith('home/'))).toEqual([
      'home/agent.db',
      'home/agent.db-wal',
    ]);
    expect(found.get('home/agent.db-wal')?.content?.startsWith(log('1', 3).toString())).toBe(true);
  });

  it('reads database and log again after the log was written back', async () => {
    const saved = await save(openSaver(), (turn) => {
      if (turn !== 3) return;
      write('home/agent.db', database('b'));
      write('home/agent.db-wal', log('2', 1));
    });
    expect(saved.missing).toEqual([]);
    const found = await read(saved.content);
    expect(found.get('home/agent.db')?.content).toBe(database('b').toString('latin1'));
    expect(found.get('home/agent.db-wal')?.content).toBe(log('2', 1).toString());
  });

  it('saves a database without the log that was removed meanwhile', async () => {
    const saver = openSaver();
    await save(saver);
    write('home/agent.db', database('b'));
    appendFileSync(at('home/agent.db-wal'), 'frame');
    const saved = await save(saver, (turn) => {
      if (turn !== 3) return;
      write('home/agent.db', database('c'));
      rmSync(at('home/agent.db-wal'));
    });
    const found = await read(saved.content);
    expect(found.get('home/agent.db')?.content).toBe(database('c').toString('latin1'));
    expect(found.has('home/agent.db-wal')).toBe(false);
  });

  it('saves a directory, a link and a file that only have the names of its logs', async () => {
    rmSync(at('home/agent.db-wal'));
    mkdirSync(at('home/agent.db-wal'));
    write('home/agent.db-wal/file', 'kept');
    symlinkSync('nowhere', at('home/agent.db-journal'));
    write('home/agent.db-shm', 'no shared memory');
    const saver = openSaver();
    await save(saver);
    // The directory above does not change.
    writeFileSync(at('home/agent.db'), database('b'), { flag: 'r+' });
    const saved = await save(saver);
    expect(saved.missing).toEqual([]);
    expect(await read(saved.content)).toEqual(readDirectories(fixture));
  });
});

it('saves files and directories with times of any year', async () => {
  write('workspace/past', 'file');
  write('workspace/future', 'file');
  utimesSync(at('workspace/past'), new Date('1902-01-01'), new Date('1902-01-01'));
  utimesSync(at('workspace/future'), new Date('2400-01-01'), new Date('2400-01-01'));
  utimesSync(at('home'), new Date('2400-01-01'), new Date('2400-01-01'));
  const found = await read((await save(openSaver())).content);
  expect(found.get('workspace/past')?.mtimeMs).toBe(Date.parse('1902-01-01'));
  expect(new Date(found.get('workspace/future')?.mtimeMs ?? 0).getUTCFullYear()).toBe(2112);
});

describe('limits', () => {
  it('leaves out the largest files', async () => {
    write('workspace/small', 'small');
    write('workspace/large', Buffer.alloc(3_000_000));
    write('workspace/larger', Buffer.alloc(4_000_000));
    const saver = openSaver({ maxFileBytes: 3_500_000 });
    const saved = await save(saver);
    expect(saved.missing).toEqual([{ path: 'workspace/larger', reason: 'TOO_LARGE', bytes: 4_000_000, files: 1 }]);
    expect(saved).toMatchObject({ files: 2, bytes: 3_000_005 });
    expect(await saver.save({ withIgnored: true, pause: () => null })).toBeNull();
    rmSync(at('workspace/large'));
    write('workspace/larger', Buffer.alloc(3_100_000));
    const next = await save(saver);
    expect(next.missing).toEqual([]);
    expect(await read(next.content)).toEqual(readDirectories(fixture));
  });

  it('leaves out the largest ignored directories', async () => {
    mkdirSync(at('workspace/.git'));
    write('workspace/.gitignore', 'ignored-*');
    for (const [name, size] of [
      ['ignored-1', 1_000],
      ['ignored-2', 5_000],
      ['ignored-3', 2_000],
    ] as const) {
      mkdirSync(at(`workspace/${name}`));
      write(`workspace/${name}/file`, Buffer.alloc(size));
      write(`workspace/${name}/empty`, '');
    }
    for (const name of ['one', 'two']) mkdirSync(at(`home/.cache/${name}`), { recursive: true });
    write('home/.cache/one/file', Buffer.alloc(4_000));
    write('home/.cache/two/file', Buffer.alloc(100));
    const saver = openSaver({ maxIgnoredBytes: 3_500 });
    const saved = await save(saver);
    expect(saved.missing).toEqual([
      { path: 'workspace/ignored-2', reason: 'TOO_LARGE', bytes: 5_000, files: 2 },
      { path: 'home/.cache/one', reason: 'TOO_LARGE', bytes: 4_000, files: 1 },
    ]);
    rmSync(at('workspace/ignored-2'), { recursive: true });
    rmSync(at('home/.cache/one'), { recursive: true });
    const next = await save(saver);
    expect(next.missing).toEqual([]);
    expect(await read(next.content)).toEqual(readDirectories(fixture));
  });

  it('names directories with too many entries', async () => {
    mkdirSync(at('workspace/many'));
    for (let file = 0; file < 500; file++) write(`workspace/many/${file}`, '');
    mkdirSync(at('workspace/.git'));
    write('workspace/.gitignore', 'build');
    mkdirSync(at('workspace/build'));
    for (let file = 0; file < 50; file++) write(`workspace/build/${file}`, '');
    const saver = openSaver({ maxEntries: 300 });
    const saved = await save(saver);
    expect(saved.files).toBeLessThanOrEqual(300);
    const left = saved.missing.filter(({ path }) => path.startsWith('workspace/many'));
    expect(left.reduce((sum, { files }) => sum + files, 0)).toBeGreaterThan(200);
    expect(saved.missing).toContainEqual({ path: 'workspace/build', reason: 'TOO_LARGE', bytes: null, files: 0 });
    const again = await saver.save({ withIgnored: true, pause: () => null });
    expect(again?.missing ?? saved.missing).toEqual(saved.missing);
    for (let file = 0; file < 400; file++) rmSync(at(`workspace/many/${file}`));
    const next = await save(saver);
    expect(next.missing).toEqual([]);
    expect(await read(next.content)).toEqual(readDirectories(fixture));
  });

  it('names directories that are too deep', async () => {
    const start = process.cwd();
    process.chdir(at('workspace'));
    for (let depth = 0; depth < 700; depth++) {
      mkdirSync('d');
      process.chdir('d');
    }
    process.chdir(start);
    const saver = openSaver();
    const saved = await save(saver);
    expect(saved.missing).toEqual([
      { path: `workspace${'/d'.repeat(501)}`, reason: 'TOO_LARGE', bytes: null, files: 1 },
    ]);
    expect(saved.content.files.files).toBe(0);
    expect(await saver.save({ withIgnored: true, pause: () => null })).toBeNull();
  });

  it('names directories with too long paths, and counts long paths more than once', async () => {
    const start = process.cwd();
    process.chdir(at('workspace'));
    for (let depth = 0; depth < 30; depth++) {
      mkdirSync('d'.repeat(255));
      process.chdir('d'.repeat(255));
    }
    process.chdir(start);
    const saved = await save(openSaver());
    expect(saved.missing).toMatchObject([{ reason: 'TOO_LARGE' }]);
    expect(saved.missing[0]?.path.length).toBeLessThan(4_500);
    const limited = await save(openSaver({ maxEntries: 30 }));
    expect(limited.missing[0]?.path.length).toBeLessThan(3_000);
  });
});

describe('hostile patterns', () => {
  it('matches patterns that would keep a regular expression busy forever', async () => {
    mkdirSync(at('workspace/.git'));
    const name = 'a'.repeat(250);
    write(
      'workspace/.gitignore',
      `${'*a'.repeat(100)}*b\n${'**/a/'.repeat(200)}b\n[\n\\\n${'x'.repeat(100_000)}\n*.log`,
    );
    write(`workspace/${name}`, 'a');
    write('workspace/file.log', 'log');
    const saved = await save(openSaver());
    expect(saved.content.files.files).toBe(2);
    expect(saved.content.ignored?.files).toBe(1);
  });

  it('lets other work run between the names of a directory', async () => {
    mkdirSync(at('workspace/.git'));
    write('workspace/.gitignore', `${'*a?'.repeat(40)}b*\n`.repeat(100));
    for (let name = 0; name < 50; name++) write(`workspace/${'a'.repeat(200)}${name}`, '');
    let turns = 0;
    await save(openSaver(), (turn) => {
      turns = turn;
    });
    // One for each name, and one for each content.
    expect(turns).toBeGreaterThanOrEqual(100);
  });

  it('reads a limited number of patterns in all directories above a name', async () => {
    mkdirSync(at('workspace/.git'));
    mkdirSync(at('workspace/a/b'), { recursive: true });
    write('workspace/.gitignore', `*.log\n${'x'.repeat(1_000)}\n`.repeat(100));
    write('workspace/a/.gitignore', `*.tmp\n${'y'.repeat(1_000)}\n`.repeat(100));
    write('workspace/a/b/.gitignore', '*.bak\n');
    for (const name of ['file.log', 'file.tmp', 'file.bak']) write(`workspace/a/b/${name}`, name);
    const saved = await save(openSaver());
    expect(saved.content.ignored?.files).toBe(2);
    expect((await read(saved.content)).has('workspace/a/b/file.bak')).toBe(true);
  });

  it('follows no link for patterns', async () => {
    write('outside', 'file');
    mkdirSync(at('workspace/.git'));
    symlinkSync(at('outside'), at('workspace/.gitignore'));
    write('workspace/file', 'x');
    const saved = await save(openSaver());
    expect(saved.content.files.files).toBe(2);
    expect(statSync(at('outside')).size).toBe(4);
  });
});
