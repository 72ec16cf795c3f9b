import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { lstat, mkdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ProgramError } from './program-error.ts';
import {
  claimTurn,
  describeProcess,
  type FoundTurn,
  findTurn,
  groupFile,
  killLeftGroup,
  ownerFileOf,
} from './turn-owner.ts';

/** The directory of the turn to change an agent; it exists for as long as the change runs. */
export const turnDirectory = '.installing';

/** Time between two signs of life. */
const beatMs = 5_000;

/** The turn of one process to change the program of an agent. */
export interface InstallTurn {
  /** An empty directory of this turn alone, on the same file system as the program. */
  readonly directory: string;
  /** Records the process group of npm, which the next turn ends if this process dies. Throws errors of the file system. */
  recordGroup(pid: number): void;
  /** Deletes the directory; the next one may begin. */
  end(): Promise<void>;
}

/**
 * Takes the turn to change an agent's program, over all processes that use the directory. Rejects with BUSY if another one
 * has it. A turn of a process that has died is taken over, and its npm is killed.
 */
export async function takeTurn(programDirectory: string, agentId: string): Promise<InstallTurn> {
  await mkdir(programDirectory, { recursive: true });
  if (await isLink(programDirectory)) {
    const message = `${programDirectory} is a link, and the files behind it are not the service's to delete. Remove the link.`;
    throw new ProgramError('NO_PERMISSION', message);
  }
  const root = join(programDirectory, turnDirectory);
  const found = await findTurn(root);
  if (found !== null && !found.isEmpty && !(await clearIfDead(root, found))) throw busy(agentId);
  const token = randomBytes(6).toString('hex');
  if (!(await create(root, token))) throw busy(agentId);
  const ownerFile = ownerFileOf(token);
  const timer = setInterval(() => {
    const now = new Date();
    utimes(join(root, ownerFile), now, now).catch(() => undefined);
  }, beatMs).unref();
  return {
    directory: join(root, token),
    recordGroup(pid) {
      writeFileSync(join(root, groupFile), describeProcess(pid));
    },
    async end() {
      clearInterval(timer);
      if (await claimTurn(root, ownerFile)) await moveAndDelete(root);
    },
  };
}

/** Returns true if a directory is a symbolic link, which an agent without a sandbox may have planted. */
export async function isLink(directory: string): Promise<boolean> {
  return (await lstat(directory).catch(() => null))?.isSymbolicLink() === true;
}

/** Removes what a process left behind that died in its turn, and kills its npm. */
export async function clearDeadTurn(programDirectory: string): Promise<void> {
  const root = join(programDirectory, turnDirectory);
  const found = await findTurn(root);
  if (found !== null) await clearIfDead(root, found);
}

const busy = (agentId: string) =>
  new ProgramError('BUSY', `Another installation of ${agentId} is in progress. Wait until it has ended.`);

// The directory is complete when it gets its name, and only one process can give the name: a rename replaces nothing but an
// empty directory, which a full disk may have left.
async function create(root: string, token: string): Promise<boolean> {
  const prepared = `${root}-${token}`;
  try {
    await mkdir(join(prepared, token), { recursive: true });
    await writeFile(join(prepared, ownerFileOf(token)), describeProcess(process.pid));
    await rename(prepared, root);
    return true;
  } catch (error) {
    await rm(prepared, { recursive: true, force: true });
    if (['EEXIST', 'ENOTEMPTY', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}

// Of several processes that find the same dead turn, one clears it.
async function clearIfDead(root: string, { ownerFile, isDead, inode }: FoundTurn): Promise<boolean> {
  if (!isDead || (ownerFile !== null && !(await claimTurn(root, ownerFile)))) return false;
  await killLeftGroup(root);
  return moveAndDelete(root, inode);
}

// The rename gives the turn away at once: the deletion of many files takes a while.
async function moveAndDelete(root: string, inode?: number): Promise<boolean> {
  const gone = `${root}-${randomBytes(6).toString('hex')}`;
  try {
    await rename(root, gone);
    if (inode !== undefined && (await stat(gone)).ino !== inode) {
      // A turn without an owner cannot be claimed: this is the turn of another process, which was faster.
      await rename(gone, root);
      return false;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
  await rm(gone, { recursive: true, force: true, maxRetries: 3 });
  return true;
}
