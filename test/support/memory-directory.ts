import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const memory = '/dev/shm';
const prefix = 'switchyard-tests-';

/** All databases and workspaces of a run need less than half of it. */
const neededBytes = 4 * 2 ** 30;

/**
 * Makes a directory in memory for the temporary files of this run, which is deleted when this process ends. Returns null where
 * the memory is too small or programs must not run from it. A database has a thousand files: on some disks, creating them
 * takes a second of CPU.
 */
export function makeMemoryDirectory(): string | null {
  const directory = join(memory, `${prefix}${process.pid}`);
  try {
    removeAbandoned();
    const { bavail, bsize } = statfsSync(memory);
    if (bavail * bsize < neededBytes) return null;
    mkdirSync(directory);
    process.once('exit', () => remove(directory));
    // Like /tmp: PostgreSQL can run as another user.
    chmodSync(directory, 0o1777);
    const program = join(directory, 'probe');
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
    execFileSync(program);
    rmSync(program);
    return directory;
  } catch {
    return null;
  }
}

/** Deletes the directories of runs that were killed. */
function removeAbandoned(): void {
  for (const name of readdirSync(memory).filter((each) => each.startsWith(prefix))) {
    try {
      process.kill(Number(name.slice(prefix.length)), 0);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') continue;
      remove(join(memory, name));
    }
  }
}

// Unlike Node, rm deletes paths that are longer than the system allows; tests of hostile workspaces make them. What cannot be deleted
// must not stop the next run.
function remove(directory: string): void {
  spawnSync('rm', ['-rf', directory]);
}
