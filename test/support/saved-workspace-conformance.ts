import { randomBytes } from 'node:crypto';
import { copyFileSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Sandbox, SandboxDriver } from '../../src/agents/sandbox/driver.ts';
import type { SavedState } from '../../src/checkpoints/driver.ts';
import { removeTree } from '../../src/store/delete-tree.ts';
import { readSegmentsIn } from './written-segments.ts';

/** Functions of the tests of a driver. */
export interface DriverTools {
  readonly sessionId: string;
  openSandbox(isNew: boolean): Promise<{ readonly driver: SandboxDriver; readonly sandbox: Sandbox }>;
  reopen(driver: SandboxDriver): Promise<Sandbox>;
  /** Runs a program of Node.js, which has `fs`, to its end, and returns the value that it writes as JSON. */
  evaluate(sandbox: Sandbox, expression: string): Promise<unknown>;
}

/** The rules for drivers that save workspaces. */
export function testSavedWorkspaces({ sessionId, openSandbox, reopen, evaluate }: DriverTools): void {
  it('saves workspace and home while processes run, and restores them completely or not at all', async () => {
    const { driver, sandbox } = await openSandbox(true);
    if (driver.restoreWorkspace === undefined) {
      expect(sandbox.openSaver).toBeUndefined();
      return;
    }
    const storage = mkdtempSync(join(tmpdir(), 'segments-'));
    onTestFinished(() => removeTree(storage));
    await evaluate(
      sandbox,
      `(fs.mkdirSync('d', { mode: 0o750 }), fs.writeFileSync('d/run', '#!/bin/sh', { mode: 0o755 }), fs.writeFileSync('a', 'first'),
          fs.symlinkSync('/etc', 'l'), fs.writeFileSync(Buffer.from([0xff]), ''), fs.writeFileSync(process.env.HOME + '/b', 'home', { mode: 0o600 }))`,
    );
    await sandbox.files.writeRecord('record.json', 'one');
    await sandbox.files.writeLocalRecord('local.json', 'one');
    const [key, segments] = [randomBytes(32), readSegmentsIn(storage)];
    const limits = { maxFileBytes: 1e6, maxIgnoredBytes: 1e6, maxEntries: 100 };
    const saver = await sandbox.openSaver?.({ key, from: null, segments, limits });
    const { signal } = new AbortController();
    const saved = await saver?.save({ withIgnored: true, signal });
    for (const { id, path } of saved?.segments ?? []) copyFileSync(path, join(storage, id));
    await saver?.commit();
    await saver?.close();
    const { content } = saved as SavedState;
    await sandbox.files.writeRecord('record.json', 'two');
    await evaluate(sandbox, `(fs.writeFileSync('a', 'second'), fs.writeFileSync('late', ''))`);
    await sandbox.close();
    const state = `[fs.readFileSync('a', 'utf8'), fs.existsSync('late'), fs.readFileSync(process.env.HOME + '/b', 'utf8')]`;
    const restore = (other = key) => driver.restoreWorkspace?.({ sessionId, content, key: other, segments, signal });
    await expect(restore(randomBytes(32))).rejects.toMatchObject({ code: 'DAMAGED' });
    const unchanged = await reopen(driver);
    expect(await evaluate(unchanged, state)).toEqual(['second', true, 'home']);
    await unchanged.close();
    await restore();
    expect((await driver.workspaces.deleteDiscarded(() => false)).problems).toEqual([]);
    await driver.workspaces.discard(sessionId);
    expect(await restore()).toMatchObject({ files: 6 });
    const restored = await reopen(driver);
    const { files } = restored;
    expect([await files.readRecord('record.json'), await files.readLocalRecord('local.json')]).toEqual(['one', null]);
    expect(await evaluate(restored, state)).toEqual(['first', false, 'home']);
    const modes = `['d', 'd/run', process.env.HOME + '/b'].map((path) => (fs.statSync(path).mode & 0o777).toString(8))`;
    const own = `['.', 'a', 'd', 'l', process.env.HOME].every((path) => fs.lstatSync(path).uid === process.getuid())`;
    const names = `fs.readdirSync('.', { encoding: 'hex' }).sort()`;
    expect(await evaluate(restored, `[${modes}, ${own}, ${names}, fs.readlinkSync('l')]`)).toEqual([
      ['750', '755', '600'],
      true,
      ['61', '64', '6c', 'ff'],
      '/etc',
    ]);
    expect(
      await evaluate(
        restored,
        `(fs.writeFileSync('a', 'third'), fs.writeFileSync('d/new', ''), fs.readFileSync('a', 'utf8'))`,
      ),
    ).toBe('third');
  });
}
