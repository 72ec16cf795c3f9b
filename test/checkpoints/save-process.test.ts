import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Saver } from '../../src/checkpoints/driver.ts';
import { createSaveProcess, type SaveProcess } from '../../src/checkpoints/save/save-process-client.ts';
import { createSegmentsDriver } from '../../src/checkpoints/segments-driver.ts';
import { createSaveFixture, readDirectories, readSaved, type SaveFixture } from '../support/save-fixture.ts';

let fixture: SaveFixture;
let saveProcess: SaveProcess;
beforeEach(() => {
  fixture = createSaveFixture();
  saveProcess = createSaveProcess({ maxHeapMb: 256 });
});
afterEach(async () => {
  await saveProcess.close();
  await fixture.remove();
});

const never = new AbortController().signal;
const options = { withIgnored: true, signal: never };

function write(name: string, content: string): void {
  writeFileSync(join(fixture.directories.workspace, name), content);
}

async function saveAndCommit(saver: Saver) {
  const saved = await saver.save(options);
  if (saved === null) throw new Error('Nothing was saved.');
  fixture.upload(saved);
  await saver.commit();
  return saved;
}

it('saves in another process, and deletes the committed segments from the spool', async () => {
  const restore = () => Promise.reject(new Error('Nothing is restored.'));
  const driver = createSegmentsDriver({ maxHeapMb: 256, restore });
  const saver = await driver.open({ ...fixture, from: null });
  write('a', 'first');
  const saved = await saveAndCommit(saver);
  expect(await readSaved(fixture, saved.content)).toEqual(readDirectories(fixture));
  expect(readdirSync(fixture.spoolDir)).toEqual([]);
  expect(await saver.save(options)).toBeNull();
  await driver.close();
  await expect(saver.save(options)).rejects.toMatchObject({ code: 'STOPPED' });
});

it('includes the changes of an aborted save in the next one', async () => {
  const saver = saveProcess.open({ ...fixture, from: null });
  await saveAndCommit(saver);
  write('a', 'first');
  expect(await saver.save(options)).not.toBeNull();
  await saver.abort();
  expect(readdirSync(fixture.spoolDir)).toEqual([]);
  const saved = await saveAndCommit(saver);
  expect(await readSaved(fixture, saved.content)).toEqual(readDirectories(fixture));
});

it('rejects a save whose process dies, and continues with the last committed state in a new one', async () => {
  const saver = saveProcess.open({ ...fixture, from: null });
  write('a', 'first');
  await saveAndCommit(saver);
  write('b', 'second');
  const saving = saver.save(options);
  process.kill(saveProcess.pid as number, 'SIGKILL');
  await expect(saving).rejects.toMatchObject({ code: 'FAILED' });
  const saved = await saveAndCommit(saver);
  expect(saved.segments).toHaveLength(1);
  expect(saved.segments.every(({ bytes }) => bytes < 1_000)).toBe(true);
  expect(await readSaved(fixture, saved.content)).toEqual(readDirectories(fixture));
});

it('rejects a save that takes all memory, and goes on with those of other sessions', async () => {
  const other = createSaveFixture();
  // The process starts with so little, but cannot keep so many names.
  const small = createSaveProcess({ maxHeapMb: 16 });
  try {
    const saver = small.open({ ...fixture, from: null });
    write('a', 'first');
    await saveAndCommit(saver);
    const name = 'x'.repeat(240);
    for (let n = 0; n < 12_000; n++) writeFileSync(join(other.directories.workspace, `${n}-${name}`), '');
    await expect(small.open({ ...other, from: null }).save(options)).rejects.toMatchObject({ code: 'FAILED' });
    write('b', 'second');
    const saved = await saveAndCommit(saver);
    expect(await readSaved(fixture, saved.content)).toEqual(readDirectories(fixture));
  } finally {
    await small.close();
    await other.remove();
  }
});

it('commits a save whose process died after it', async () => {
  const saver = saveProcess.open({ ...fixture, from: null });
  write('a', 'first');
  const first = await saver.save(options);
  fixture.upload(first as NonNullable<typeof first>);
  const pid = saveProcess.pid as number;
  process.kill(pid, 'SIGKILL');
  await expect.poll(() => saveProcess.pid).toBeUndefined();
  await saver.commit();
  expect(await saver.save(options)).toBeNull();
  expect(saveProcess.pid).not.toBe(pid);
  expect(readdirSync(fixture.spoolDir)).toEqual([]);
});

it('stops a save', async () => {
  const saver = saveProcess.open({ ...fixture, from: null });
  const controller = new AbortController();
  controller.abort();
  await expect(saver.save({ ...options, signal: controller.signal })).rejects.toMatchObject({ code: 'STOPPED' });
});

it('stops a save that waits for the storage', async () => {
  const first = saveProcess.open({ ...fixture, from: null });
  const { content } = await saveAndCommit(first);
  await first.close();
  const controller = new AbortController();
  const segments = {
    read: () => {
      controller.abort();
      return new Promise<never>(() => undefined);
    },
  };
  const second = saveProcess.open({ ...fixture, segments, from: content });
  await expect(second.save({ ...options, signal: controller.signal })).rejects.toMatchObject({ code: 'STOPPED' });
});

it('gives the process a low priority, and neither environment nor keys in its arguments', async () => {
  const saver = saveProcess.open({ ...fixture, from: null });
  await saveAndCommit(saver);
  const pid = saveProcess.pid as number;
  const environment = readFileSync(`/proc/${pid}/environ`, 'latin1');
  const args = readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  const names = environment.split('\0').map((variable) => variable.split('=', 1)[0]);
  expect(names.filter((name) => name !== '' && !name?.startsWith('NODE_CHANNEL'))).toEqual([]);
  expect(args).not.toContain(fixture.key.toString('hex'));
  const [, fields] = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ');
  expect(Number(fields?.split(' ')[16])).toBe(10);
});

it('names pipes, and is not blocked by one that replaces a file', async () => {
  const saver = saveProcess.open({ ...fixture, from: null });
  execFileSync('mkfifo', [join(fixture.directories.workspace, 'pipe')]);
  execFileSync('mkfifo', [join(fixture.directories.workspace, '.gitignore')]);
  execFileSync('mkdir', [join(fixture.directories.workspace, '.git')]);
  const saved = await saveAndCommit(saver);
  expect(saved.missing.map(({ path, reason }) => `${path} ${reason}`).sort()).toEqual([
    'workspace/.gitignore SPECIAL',
    'workspace/pipe SPECIAL',
  ]);
  expect(await saver.save(options)).toBeNull();
});
