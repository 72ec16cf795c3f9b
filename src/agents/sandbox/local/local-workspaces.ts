import type { Dirent } from 'node:fs';
import { lstat, mkdir, opendir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { emptyTree } from '../../../store/delete-tree.ts';
import type { Workspaces } from '../workspaces.ts';
import { createLocalFiles } from './local-files.ts';
import { findInDirectories, killProcesses } from './orphan-processes.ts';
import {
  deletedIn,
  discardDirectory,
  homeIn,
  isSessionDirectory,
  recordsIn,
  sessionIn,
  sessionsIn,
  workspaceIn,
} from './session-directories.ts';

/** The file that names the enterprise of the sessions in a data directory. */
const ownerFile = '.enterprise';

/** Returns the workspaces in a data directory of this machine. Opens nothing. */
export function createLocalWorkspaces(dataDir: string): Workspaces {
  const root = sessionsIn(dataDir);
  return {
    location: root,
    async *ids() {
      const directory = await opendir(root).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return [];
        throw error;
      });
      for await (const { name } of directory) if (isSessionDirectory(name)) yield name;
    },
    has: (sessionId) => isDirectory(workspaceIn(sessionIn(dataDir, sessionId))),
    files: (sessionId) => createLocalFiles(sessionIn(dataDir, sessionId)),
    sizeOf: (sessionId) => sizeOf(sessionIn(dataDir, sessionId)),
    async isUntouchedSince(sessionId, time) {
      const directory = sessionIn(dataDir, sessionId);
      for (const path of [directory, workspaceIn(directory), homeIn(directory), recordsIn(directory)]) {
        const found = await lstat(path).catch(() => null);
        if (found !== null && found.mtime > time) return false;
      }
      return true;
    },
    discard: async (sessionId) => discardDirectory(dataDir, sessionId),
    async deleteDiscarded(isStopped) {
      const directory = deletedIn(dataDir);
      await mkdir(directory, { recursive: true, mode: 0o700 });
      // A process that an agent has left running there could add files as fast as they are deleted.
      await killProcesses(findInDirectories([directory], '0'));
      return emptyTree(directory, isStopped);
    },
    readOwner: () =>
      readFile(join(root, ownerFile), 'utf8').then(
        (text) => text.trim(),
        () => null,
      ),
    async recordOwner(enterpriseId) {
      // A worker without sessions has no such directory yet.
      await mkdir(root, { recursive: true, mode: 0o700 });
      await writeFile(join(root, ownerFile), `${enterpriseId}\n`, { mode: 0o600 });
    },
  };
}

async function isDirectory(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null))?.isDirectory() === true;
}

async function sizeOf(directory: string): Promise<number> {
  let blocks = 0;
  const open = [directory];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    for await (const entry of entriesOf(path)) {
      const inner = join(path, entry.name);
      if (entry.isDirectory()) open.push(inner);
      blocks += (await lstat(inner).catch(() => null))?.blocks ?? 0;
    }
  }
  // A block of lstat has 512 bytes on every system.
  return blocks * 512;
}

// One by one: an agent may leave very many. It may also remove the directory meanwhile.
async function* entriesOf(path: string): AsyncGenerator<Dirent> {
  try {
    yield* await opendir(path);
  } catch {
    // The rest cannot be read.
  }
}
