import { constants } from 'node:fs';
import { mkdir, open, readdir, realpath, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { BackupError } from './backup-error.ts';
import type { Location } from './location.ts';

/** Opens a directory as the location of a backup. Only the user of this process can read what it writes. */
export function openDirectoryLocation(directory: string): Location {
  const made = new Set<string>();
  const written: string[] = [];
  const makeFolder = async (folder: string) => {
    if (made.has(folder)) return;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    made.add(folder);
  };
  const write = async (path: string, content: Readable | Buffer) => {
    await makeFolder(dirname(path));
    const file = await open(path, 'wx', 0o600);
    written.push(path);
    try {
      await writeFile(file, content);
      await file.sync();
    } finally {
      await file.close();
    }
  };
  return {
    label: directory,
    async prepare() {
      const found = await mkdir(directory, { recursive: true, mode: 0o700 }).then(
        () => readdir(directory),
        (error: NodeJS.ErrnoException) => {
          throw new BackupError(`The directory ${directory} cannot be written to (${error.code}).`, { cause: error });
        },
      );
      if (found.length === 0) return;
      throw new BackupError(`${directory} is not empty. A backup needs a directory of its own: choose a new one.`);
    },
    put: (name, content) => write(join(directory, name), content),
    async finish(name, content) {
      const draft = join(directory, `${name}.new`);
      await write(draft, content);
      for (const folder of made) await syncFolder(folder);
      await rename(draft, join(directory, name));
      await syncFolder(directory);
      await syncFolder(dirname(directory));
    },
    read: (name) => openFile(directory, name),
    async abandon() {
      // Only its own files: another backup may have begun to write into the same directory.
      for (const path of written) await rm(path, { force: true });
      const folders = [...made].filter((folder) => folder !== directory).sort((a, b) => b.length - a.length);
      for (const folder of folders) await removeIfEmpty(folder, directory);
    },
  };
}

/** Opens a regular file that no link leads to: a backup may come from somebody else. */
async function openFile(directory: string, name: string): Promise<Readable | null> {
  const root = await realpath(directory).catch(() => null);
  if (root === null) return null;
  const path = join(root, name);
  const actual = await realpath(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw new BackupError(`${name} of the backup cannot be read (${error.code}).`, { cause: error });
  });
  if (actual === null) return null;
  if (actual !== path) throw new BackupError(`${name} of the backup is a link, or in one. A backup has only files.`);
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch((error: NodeJS.ErrnoException) => {
    throw new BackupError(`${name} of the backup cannot be read (${error.code}).`, { cause: error });
  });
  if ((await file.stat()).isFile()) return file.createReadStream();
  await file.close();
  throw new BackupError(`${name} of the backup is not a file.`);
}

/** Removes a folder, and those around it below `root`, as far as they are empty. */
async function removeIfEmpty(folder: string, root: string): Promise<void> {
  for (let path = folder; path.startsWith(join(root, '/')); path = dirname(path)) {
    const isRemoved = await rmdir(path).then(
      () => true,
      () => false,
    );
    if (!isRemoved) return;
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
