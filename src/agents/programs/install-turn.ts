import { randomBytes } from 'node:crypto';
import { lstat, mkdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { ProgramError } from './program-error.ts';
import { readJson } from './program-lock.ts';

/** The directory in which one installation of an agent works; it exists for as long as the installation runs. */
export const turnDirectory = '.installing';

const ownerFile = 'owner.json';
const ownerSchema = z.object({ host: z.string(), pid: z.int() });

/** Time between two signs of life. */
const beatMs = 5_000;
/** Time without a sign of life after which an installation counts as dead. */
const deadMs = 60_000;

/** The turn of one process to change the program of an agent. */
export interface InstallTurn {
  /** An empty directory, on the same file system as the program. */
  readonly directory: string;
  /** Deletes the directory; the next one may begin. */
  end(): Promise<void>;
}

/**
 * Takes the turn to change an agent's program, over all processes that use the directory. Rejects with BUSY if another one
 * has it. A turn of a process that has died is taken over.
 */
export async function takeTurn(programDirectory: string, agentId: string): Promise<InstallTurn> {
  await mkdir(programDirectory, { recursive: true });
  if (await isLink(programDirectory)) {
    const message = `${programDirectory} is a link, and the files behind it are not the service's to delete. Remove the link.`;
    throw new ProgramError('NO_PERMISSION', message);
  }
  const directory = join(programDirectory, turnDirectory);
  if (!(await create(directory))) {
    if (!(await isDead(directory))) throw busy(agentId);
    await clear(directory);
    if (!(await create(directory))) throw busy(agentId);
  }
  await writeFile(join(directory, ownerFile), JSON.stringify({ host: hostname(), pid: process.pid }));
  const timer = setInterval(() => {
    const now = new Date();
    utimes(join(directory, ownerFile), now, now).catch(() => undefined);
  }, beatMs).unref();
  return {
    directory,
    async end() {
      clearInterval(timer);
      await clear(directory);
    },
  };
}

/** Returns true if a directory is a symbolic link, which an agent without a sandbox may have planted. */
export async function isLink(directory: string): Promise<boolean> {
  return (await lstat(directory).catch(() => null))?.isSymbolicLink() === true;
}

/** Removes what a process left behind that died in its turn. */
export async function clearDeadTurn(programDirectory: string): Promise<void> {
  const directory = join(programDirectory, turnDirectory);
  if (await isDead(directory)) await clear(directory);
}

const busy = (agentId: string) =>
  new ProgramError('BUSY', `Another installation of ${agentId} is in progress. Wait until it has ended.`);

// Only one process succeeds.
async function create(directory: string): Promise<boolean> {
  try {
    await mkdir(directory);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function isDead(directory: string): Promise<boolean> {
  const path = join(directory, ownerFile);
  const beat = await stat(path).catch(() => stat(directory).catch(() => null));
  if (beat === null) return false;
  if (Date.now() - beat.mtimeMs > deadMs) return true;
  const owner = ownerSchema.safeParse(await readJson(path).catch(() => null)).data;
  return owner !== undefined && owner.host === hostname() && !isRunning(owner.pid);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

// The rename gives the turn away at once: the deletion of many files takes a while.
async function clear(directory: string): Promise<void> {
  const gone = `${directory}-${randomBytes(6).toString('hex')}`;
  try {
    await rename(directory, gone);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  await rm(gone, { recursive: true, force: true, maxRetries: 3 });
}
