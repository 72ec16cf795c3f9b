import type { FileHandle } from 'node:fs/promises';
import { areDirectories, inDirectory, openInside } from './safe-directory.ts';

/** A switch of a clone from one branch to a new one. */
export interface BranchSwitch {
  /** The absolute path of the workspace. */
  readonly workspace: string;
  /** The names of the clone's path in it. */
  readonly names: readonly string[];
  readonly from: string;
  readonly to: string;
}

/** The most that is read of a file in a repository, in bytes. */
const maxRefBytes = 2 ** 24;

/**
 * Puts a clone on a new branch at the commit that it has, as `git switch -c` does. Its index and its files do not change. It runs no git,
 * because an agent may have written the configuration, and writes through no link. Does nothing if the clone is not on `from`, if `to` exists, or
 * if the repository is not as git makes it. No process may use the clone.
 */
export async function switchBranch({ workspace, names, from, to }: BranchSwitch): Promise<void> {
  const git = [...names, '.git'];
  const read = (...path: string[]) => readInside(workspace, [...git, ...path].join('/'));
  if ((await read('HEAD'))?.trim() !== `ref: refs/heads/${from}`) return;
  const packed = readPackedRefs((await read('packed-refs')) ?? '');
  const parts = to.split('/');
  // Neither the branch nor one with the name of its directory.
  for (const [index] of parts.entries()) {
    const name = parts.slice(0, index + 1).join('/');
    if (packed.has(name) || (await read('refs', 'heads', name)) !== null) return;
  }
  const commit = (await read('refs', 'heads', from))?.trim() ?? packed.get(from);
  // Without a commit, the branch begins with the first one.
  if (commit !== undefined && !/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(commit)) return;
  if (!(await areDirectories(workspace, [...git, 'refs', 'heads']))) return;
  if (commit !== undefined) {
    const directory = [...git, 'refs', 'heads', ...parts.slice(0, -1)];
    await inDirectory(workspace, directory, (heads) => heads.write(parts.at(-1) ?? '', `${commit}\n`, 0o644));
  }
  await inDirectory(workspace, git, (directory) => directory.write('HEAD', `ref: refs/heads/${to}\n`, 0o644));
}

/** Reads the branches of a `packed-refs` file. */
function readPackedRefs(text: string): Map<string, string> {
  const lines = text.matchAll(/^([0-9a-f]{40,64}) refs\/heads\/(.+)$/gm);
  return new Map([...lines].map(([, id = '', name = '']) => [name, id]));
}

// Null: there is no ordinary file of that size.
async function readInside(workspace: string, path: string): Promise<string | null> {
  let handle: FileHandle | null = null;
  try {
    handle = await openInside(workspace, path);
    if (handle === null || (await handle.stat()).size > maxRefBytes) return null;
    return await handle.readFile('latin1');
  } catch {
    return null;
  } finally {
    await handle?.close();
  }
}
