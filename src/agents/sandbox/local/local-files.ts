import { randomUUID } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkspaceFiles } from '../workspaces.ts';
import { emptyDirectory, inDirectory, listBelow, openInside, stateOf } from './safe-directory.ts';
import { workspaceIn } from './session-directories.ts';

/** Returns the files of a session, by its directory on this machine. */
export function createLocalFiles(sessionDir: string): WorkspaceFiles {
  const workspace = workspaceIn(sessionDir);
  return {
    list: (directory, limits) => listBelow(workspace, directory, limits),
    async stat(path) {
      const handle = await openInside(workspace, path);
      if (handle === null) return null;
      try {
        return stateOf(await handle.stat());
      } finally {
        await handle.close();
      }
    },
    // The stream closes the handle when it ends or is destroyed.
    read: async (path) => (await openInside(workspace, path))?.createReadStream() ?? null,
    inDirectory: (names, work) => inDirectory(workspace, names, work),
    empty: (directory, beforeMs) => emptyDirectory(workspace, directory, beforeMs),
    readRecord: (name) => readFile(join(sessionDir, name), 'utf8').catch(() => null),
    async writeRecord(name, text) {
      const draft = join(sessionDir, `${name}.draft`);
      await writeFile(draft, text, { mode: 0o600 });
      await rename(draft, join(sessionDir, name));
    },
  };
}

/**
 * Writes a file completely or not at all, in a directory where an agent may write too. Replaces a link with the file's
 * name, and does not follow it.
 */
export async function writeFileAt(directory: string, name: string, content: string, mode: number): Promise<void> {
  const draft = join(directory, `.${name}-${randomUUID()}`);
  await writeFile(draft, content, { flag: 'wx', mode });
  await rename(draft, join(directory, name));
}
