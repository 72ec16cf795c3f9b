import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, it, onTestFinished, vi } from 'vitest';

const read = { count: 0 };

// The real file system, with a count of the names read from it.
vi.doMock('node:fs/promises', async (original) => {
  const real = await original<typeof import('node:fs/promises')>();
  const count = (names: number) => {
    read.count += names;
  };
  return {
    ...real,
    async readdir(path: string) {
      const names = await real.readdir(path);
      count(names.length);
      return names;
    },
    async opendir(path: string) {
      const directory = await real.opendir(path);
      return {
        async *[Symbol.asyncIterator]() {
          for await (const entry of directory) {
            count(1);
            yield entry;
          }
        },
      };
    },
  };
});
// Other test files of the process may have loaded the module with the real one.
vi.resetModules();
const { emptyDirectory, listBelow } = await import('../../../src/agents/sandbox/local/safe-directory.ts');
beforeEach(() => {
  read.count = 0;
});
afterAll(() => {
  vi.doUnmock('node:fs/promises');
  vi.resetModules();
});

async function workspace(files: readonly string[]): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'switchyard-test-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  for (const file of files) {
    await mkdir(join(directory, 'outputs', file, '..'), { recursive: true });
    await writeFile(join(directory, 'outputs', file), '');
  }
  return directory;
}

const limits = { maxDepth: 3, maxNames: 20 };
const many = (count: number, prefix = '') => Array.from({ length: count }, (_, n) => `${prefix}${n}`);

it('reads at most the allowed number of names of a directory, and reports that there are more', async () => {
  const directory = await workspace(many(300));
  const { files, isCut } = await listBelow(directory, ['outputs'], limits);
  expect([files.length, isCut]).toEqual([20, true]);
  // One more shows that there are more.
  expect(read.count).toBe(21);
});

it('counts the names of nested directories together', async () => {
  const nested = ['a', 'b', 'c', 'd'].flatMap((name) => many(50, `${name}/inner/`));
  const directory = await workspace(nested);
  const { files, isCut } = await listBelow(directory, ['outputs'], limits);
  expect([files.length, isCut]).toEqual([15, true]);
  // 4 folders, 1 in the first, 15 of its files; then one more of each directory on the way back.
  expect(read.count).toBeLessThanOrEqual(20 + 5);
});

it('returns all names in order if they are within the limit', async () => {
  const directory = await workspace([...many(9, 'b/'), ...many(9, 'a')]);
  const { files, isCut } = await listBelow(directory, ['outputs'], limits);
  expect(files.map(({ path }) => path)).toEqual([...many(9, 'a'), ...many(9, 'b/')]);
  expect([isCut, read.count]).toEqual([false, 19]);
});

it('empties a directory while it reads it', async () => {
  const directory = await workspace(many(300));
  expect(await emptyDirectory(directory, ['outputs'], Date.now() + 60_000)).toBe(300);
  expect((await listBelow(directory, ['outputs'], limits)).files).toEqual([]);
});
