import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CheckpointContent, SavedState } from '../../../src/checkpoints/driver.ts';
import { SessionSaver } from '../../../src/checkpoints/save/session-saver.ts';
import { createSaveFixture, readDirectories, readSaved, type SaveFixture } from '../../support/save-fixture.ts';

let fixture: SaveFixture;
let saver: SessionSaver;
beforeEach(() => {
  fixture = createSaveFixture();
  saver = openSaver();
});
afterEach(() => fixture.remove());

function openSaver(from: CheckpointContent | null = null, limits = fixture.limits): SessionSaver {
  return new SessionSaver({ ...fixture, from, limits });
}

const at = (path: string) => join(fixture.dir, path);
const write = (path: string, content: string | Buffer) => writeFileSync(at(path), content);

/** Saves and commits; null: nothing has changed. */
async function save(withIgnored = false): Promise<(SavedState & { stored: number }) | null> {
  const saved = await saver.save({ withIgnored, pause: () => null });
  if (saved === null) return null;
  fixture.upload(saved);
  saver.commit();
  return { ...saved, stored: saved.segments.reduce((sum, { bytes }) => sum + bytes, 0) };
}

/** Saves, and compares what was saved with the directories. */
async function expectSaved(withIgnored = true) {
  const saved = await save(withIgnored);
  if (saved === null) throw new Error('Nothing was saved.');
  expect(await readSaved(fixture, saved.content)).toEqual(readDirectories(fixture));
  return saved;
}

/** Bytes that cannot be compressed, the same for the same seed. */
function noise(length: number, seed = 1): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let state = seed;
  for (let index = 0; index < length; index++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[index] = state >>> 24;
  }
  return bytes;
}

describe('entries', () => {
  it('saves modes, times, links, empty directories and empty files', async () => {
    mkdirSync(at('workspace/empty/inner'), { recursive: true });
    write('workspace/empty file', '');
    write('workspace/program', '#!/bin/sh');
    chmodSync(at('workspace/program'), 0o4751);
    chmodSync(at('workspace/empty'), 0o700);
    utimesSync(at('workspace/program'), 1_234_567_890.25, 1_234_567_890.25);
    symlinkSync('program', at('workspace/link'));
    symlinkSync('/nowhere/at all', at('home/broken link'));
    const saved = await expectSaved();
    expect(saved).toMatchObject({ files: 4, bytes: 9, missing: [] });
  });

  it('saves names in any encoding', async () => {
    const names = ['ä ö', '日本語', 'line\nbreak', '-rf', '"quoted"', '.hidden', 'a'.repeat(255)].map((name) =>
      Buffer.from(name),
    );
    for (const name of [...names, Buffer.from([0xff, 0xfe, 0x41]), Buffer.from([0xc3, 0x28])]) {
      writeFileSync(Buffer.concat([Buffer.from(at('workspace/')), name]), name);
    }
    const directory = Buffer.concat([Buffer.from(at('workspace/')), Buffer.from([0xe9])]);
    mkdirSync(directory);
    writeFileSync(Buffer.concat([directory, Buffer.from('/inner')]), 'x');
    await expectSaved();
    writeFileSync(Buffer.concat([directory, Buffer.from('/inner')]), 'changed');
    await expectSaved();
  });

  it('names pipes, and leaves sockets out', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(at('home/socket'), resolve));
    try {
      const saved = await save();
      expect([...(await readSaved(fixture, saved?.content as CheckpointContent)).keys()]).toEqual([
        'workspace',
        'home',
        'records',
      ]);
      expect(saved?.missing).toEqual([]);
    } finally {
      server.close();
    }
  });
});

describe('changes', () => {
  it('saves nothing if nothing has changed', async () => {
    write('workspace/a', 'one');
    await expectSaved();
    expect(await save()).toBeNull();
    expect(await save(true)).toBeNull();
  });

  it('saves additions, changes, deletions and moves', async () => {
    mkdirSync(at('workspace/one/two'), { recursive: true });
    write('workspace/one/two/a', 'a');
    write('workspace/one/b', 'b');
    await expectSaved();
    renameSync(at('workspace/one/two'), at('workspace/three'));
    write('workspace/one/b', 'changed');
    await expectSaved();
    rmSync(at('workspace/one'), { recursive: true });
    await expectSaved();
    chmodSync(at('workspace/three/a'), 0o600);
    await expectSaved();
  });

  it('saves a name that becomes a file, a directory, or a link', async () => {
    const kinds = [
      () => write('workspace/name', 'file'),
      () => {
        mkdirSync(at('workspace/name/inner'), { recursive: true });
        write('workspace/name/inner/file', 'inner');
      },
      () => symlinkSync('elsewhere', at('workspace/name')),
    ];
    for (const [before, after] of [
      [0, 1],
      [1, 2],
      [2, 0],
      [0, 2],
      [2, 1],
      [1, 0],
    ] as const) {
      rmSync(at('workspace/name'), { recursive: true, force: true });
      kinds[before]?.();
      await save(true);
      rmSync(at('workspace/name'), { recursive: true });
      kinds[after]?.();
      await expectSaved();
    }
  });

  it('finds a change that kept size and modification time', async () => {
    write('workspace/a', 'one');
    utimesSync(at('workspace/a'), 1_000, 1_000);
    await expectSaved();
    write('workspace/a', 'two');
    utimesSync(at('workspace/a'), 1_000, 1_000);
    await expectSaved();
  });

  it('finds changes within the resolution of the clock', async () => {
    for (let round = 0; round < 15; round++) {
      write('workspace/a', String(round % 10));
      await expectSaved(false);
    }
  });

  it('stores only the changed chunks of a large file', async () => {
    write('workspace/large', noise(2_000_000));
    const first = await expectSaved();
    expect(first.stored).toBeGreaterThan(2_000_000);
    appendFileSync(at('workspace/large'), noise(1_000, 2));
    expect((await expectSaved()).stored).toBeLessThan(500_000);
    renameSync(at('workspace/large'), at('home/moved'));
    write('workspace/copy', noise(2_000_000));
    expect((await expectSaved()).stored).toBeLessThan(2_000);
    truncateSync(at('home/moved'), 1_500_000);
    await expectSaved();
  });

  it('stores nothing for holes', async () => {
    write('workspace/sparse', 'begin');
    truncateSync(at('workspace/sparse'), 20_000_000);
    expect((await expectSaved()).stored).toBeLessThan(8_000);
  });

  it('keeps the chain of changes and the number of segments short', async () => {
    for (let file = 0; file < 200; file++) write(`workspace/${file}`, `file ${file}`);
    await save();
    let saved: SavedState | null = null;
    for (let round = 0; round < 150; round++) {
      write(`workspace/${round % 70}`, `round ${round}`);
      if (round % 10 === 0) rmSync(at(`workspace/${199 - round}`), { force: true });
      saved = (await save()) ?? saved;
    }
    const { files } = (saved as SavedState).content;
    expect(files.manifest.length).toBeLessThanOrEqual(33);
    expect(files.segments.length).toBeLessThanOrEqual(64);
    expect(await readSaved(fixture, (saved as SavedState).content)).toEqual(readDirectories(fixture));
  });
});

describe('states', () => {
  it('includes the changes of an aborted save in the next one', async () => {
    write('workspace/a', 'one');
    await expectSaved();
    mkdirSync(at('workspace/directory'));
    write('workspace/directory/b', 'two');
    const aborted = await saver.save({ withIgnored: true, pause: () => null });
    saver.abort();
    expect(aborted?.segments.map(({ path }) => statSync(path, { throwIfNoEntry: false }))).toEqual([undefined]);
    await expectSaved();
  });

  it('continues with a state from the storage, and stores nothing twice', async () => {
    mkdirSync(at('workspace/directory'));
    write('workspace/directory/a', noise(100_000));
    write('workspace/b', 'b');
    await expectSaved();
    write('workspace/b', 'changed');
    const { content } = await expectSaved();
    saver = openSaver(content);
    expect(await save(true)).toBeNull();
    rmSync(at('workspace/directory/a'));
    write('workspace/c', 'c');
    saver = openSaver(content);
    expect((await expectSaved()).stored).toBeLessThan(2_000);
  });

  it('saves everything again if the stored state is damaged', async () => {
    write('workspace/a', 'one');
    const { content } = await expectSaved();
    writeFileSync(fixture.pathOf(content.files.segments[0] as string), 'damaged');
    saver = openSaver(content);
    await expectSaved();
  });
});

describe('ignored files', () => {
  beforeEach(() => {
    mkdirSync(at('workspace/repository/.git/info'), { recursive: true });
    write('workspace/repository/.gitignore', 'node_modules\n*.log\n');
    write('workspace/repository/.git/info/exclude', '/private\n');
    mkdirSync(at('workspace/repository/node_modules/package'), { recursive: true });
    write('workspace/repository/node_modules/package/index.js', 'code');
    write('workspace/repository/private', 'p');
    write('workspace/repository/main.js', 'main');
    mkdirSync(at('home/.cache/tool'), { recursive: true });
    write('home/.cache/tool/data', 'cached');
  });

  it('saves them only when asked to', async () => {
    const first = await save();
    const paths = (await readSaved(fixture, first?.content as CheckpointContent)).keys();
    expect([...paths].filter((path) => /node_modules|private|cache/.test(path))).toEqual([]);
    expect(first?.content.ignored).toBeNull();
    await expectSaved();
    write('workspace/repository/node_modules/package/index.js', 'changed');
    expect(await save()).toBeNull();
    await expectSaved();
  });

  it('saves both layers if a saved file becomes ignored', async () => {
    await expectSaved();
    write('workspace/repository/.gitignore', 'node_modules\n*.log\nmain.js\n');
    const saved = await expectSaved(false);
    expect(saved.content.ignored?.files).toBe(4);
  });

  it('saves a file that is not ignored any more', async () => {
    await expectSaved();
    write('workspace/repository/.gitignore', '*.log\n');
    const saved = await expectSaved(false);
    expect(saved.content.files.files).toBe(4);
    expect((await expectSaved()).content.ignored?.files).toBe(2);
  });

  it('forgets ignored files whose directory is gone', async () => {
    await expectSaved();
    rmSync(at('workspace/repository'), { recursive: true });
    rmSync(at('home/.cache/tool'), { recursive: true });
    await save();
    await expectSaved();
  });
});
