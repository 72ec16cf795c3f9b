import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { lockDataDir } from '../../src/store/data-dir-lock.ts';

let dataDir: string;
let children: ChildProcess[] = [];
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'switchyard-lock-'));
});
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  children = [];
  await rm(dataDir, { recursive: true, force: true });
});

/** A separate process that locks the directory; resolves once it has the lock. */
async function holder(): Promise<ChildProcess> {
  const module = new URL('../../src/store/data-dir-lock.ts', import.meta.url).href;
  const script = `import(${JSON.stringify(module)}).then(({ lockDataDir }) => lockDataDir(${JSON.stringify(dataDir)}))
    .then(() => { console.log('held'); setInterval(() => {}, 1000); });`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const [output] = await once(child.stdout, 'data');
  expect(String(output)).toContain('held');
  return child;
}

/** Makes the lock look as if it came from a machine whose processes are not visible here. */
async function moveElsewhere(): Promise<void> {
  const path = join(dataDir, 'lock');
  const lock = JSON.parse(await readFile(path, 'utf8')) as object;
  await writeFile(path, JSON.stringify({ ...lock, host: 'elsewhere 0 0' }));
}

it('refuses a second process with one sentence that names the directory and the pid', async () => {
  const child = await holder();
  const refused = lockDataDir(dataDir);
  await expect(refused).rejects.toThrow(dataDir);
  await expect(refused).rejects.toThrow(`pid ${child.pid} `);
});

it('refuses a second opener in the same process', async () => {
  const lock = await lockDataDir(dataDir);
  await expect(lockDataDir(dataDir)).rejects.toThrow(`pid ${process.pid} `);
  await lock.release();
});

it('takes over from a killed process at once', async () => {
  const child = await holder();
  child.kill('SIGKILL');
  await once(child, 'exit');
  const startedAt = performance.now();
  const lock = await lockDataDir(dataDir);
  expect(performance.now() - startedAt).toBeLessThan(1_000);
  await lock.release();
});

it('takes over when the process id was reused by a younger process', async () => {
  const lock = await lockDataDir(dataDir);
  const path = join(dataDir, 'lock');
  await writeFile(path, JSON.stringify({ ...JSON.parse(await readFile(path, 'utf8')), startedAt: '1' }));
  const next = await lockDataDir(dataDir);
  await next.release();
  await lock.release();
});

it('leaves nothing behind, and keeps another process’ files', async () => {
  const lock = await lockDataDir(dataDir);
  await lock.release();
  expect(await readdir(dataDir)).toEqual([]);
  const next = await lockDataDir(dataDir);
  await moveElsewhere();
  await next.release();
  expect(await readdir(dataDir)).toEqual(['lock']);
});

it('gives a stale directory to one of many concurrent openers', async () => {
  const child = await holder();
  child.kill('SIGKILL');
  await once(child, 'exit');
  const results = await Promise.allSettled(Array.from({ length: 20 }, () => lockDataDir(dataDir)));
  const locks = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  expect(locks).toHaveLength(1);
  for (const lock of locks) await lock.release();
});

it('refuses while another machine’s heartbeat continues, and takes over when it has stopped', async () => {
  const lock = await lockDataDir(dataDir, { heartbeatMs: 20 });
  await moveElsewhere();
  const watching = { heartbeatMs: 200, staleMs: 600 };
  await expect(lockDataDir(dataDir, watching)).rejects.toThrow('on elsewhere');
  await lock.release();
  expect((await stat(join(dataDir, 'lock'))).isFile()).toBe(true);
  const messages: string[] = [];
  const next = await lockDataDir(dataDir, { ...watching, onWait: (sentence) => messages.push(sentence) });
  expect(messages).toHaveLength(1);
  await next.release();
});

it('does not rely on an old date alone: clocks of two machines differ', async () => {
  const lock = await lockDataDir(dataDir, { heartbeatMs: 1_000 });
  await moveElsewhere();
  await utimes(join(dataDir, 'lock'), new Date(0), new Date(0));
  await expect(lockDataDir(dataDir, { heartbeatMs: 1_000, staleMs: 3_000 })).rejects.toThrow('on elsewhere');
  await lock.release();
});
