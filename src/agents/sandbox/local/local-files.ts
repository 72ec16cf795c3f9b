import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkspaceFiles } from '../workspaces.ts';
import { emptyDirectory, inDirectory, listBelow, openInside, stateOf } from './safe-directory.ts';
import { recordsIn, workspaceIn } from './session-directories.ts';

/** Returns the files of a session, by its directory on this machine. */
export function createLocalFiles(sessionDir: string): WorkspaceFiles {
  const workspace = workspaceIn(sessionDir);
  const records = recordsIn(sessionDir);
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
    // Earlier versions wrote every record beside the workspace.
    readRecord: async (name) => (await readText(join(records, name))) ?? readText(join(sessionDir, name)),
    async writeRecord(name, text) {
      await mkdir(records, { recursive: true, mode: 0o700 });
      await writeFileAt(records, name, text, 0o600);
    },
    readLocalRecord: (name) => readText(join(sessionDir, name)),
    writeLocalRecord: (name, text) => writeFileAt(sessionDir, name, text, 0o600),
  };
}

function readText(path: string): Promise<string | null> {
  return readFile(path, 'utf8').catch(() => null);
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
