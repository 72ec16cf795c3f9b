import { readFileSync } from 'node:fs';
import { mkdir, open, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { pid } from 'node:process';

/** How often the holder says that it lives, for processes that cannot see it (another host on a shared folder). */
const heartbeatMs = 5_000;
const staleMs = 30_000;

/** A held directory. */
export interface DataDirLock {
  /** Gives the directory back; safe to call twice. */
  release(): Promise<void>;
}

interface Holder {
  pid: number;
  /** Clock ticks since boot at which the process started; null where the system does not tell. */
  startedAt: string | null;
  host: string;
}

/**
 * Makes the directory this process's own. Throws one sentence when a living process has it; a dead one's lock (after
 * `kill -9`) is taken over at once, told apart by process id and start time, since ids come again.
 */
export async function lockDataDir(dataDir: string): Promise<DataDirLock> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const path = join(dataDir, 'lock');
  const own: Holder = { pid, startedAt: processStart(pid), host: hostname() };
  for (let tries = 0; ; tries++) {
    if (await tryCreate(path, own)) break;
    const holder = await readHolder(path);
    if (holder && (await isAlive(path, holder))) {
      throw new Error(
        `The data directory ${dataDir} is in use by another Switchyard process (pid ${holder.pid} on ${holder.host}). Stop it, or set DATA_DIR to another directory.`,
      );
    }
    if (tries > 5) throw new Error(`The data directory ${dataDir} could not be locked.`);
    // Moved away under a name of our own first: of two processes that find it stale, one gets it.
    const stale = `${path}.stale-${pid}`;
    await rename(path, stale).catch(() => undefined);
    await rm(stale, { force: true });
  }
  const timer = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => undefined);
  }, heartbeatMs).unref();
  let isReleased = false;
  return {
    async release() {
      if (isReleased) return;
      isReleased = true;
      clearInterval(timer);
      await rm(path, { force: true });
    },
  };
}

async function tryCreate(path: string, holder: Holder): Promise<boolean> {
  try {
    const file = await open(path, 'wx', 0o600);
    await file.writeFile(JSON.stringify(holder));
    await file.close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function readHolder(path: string): Promise<Holder | null> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Holder;
  } catch {
    // Gone, or its writer died between creating and writing.
    return null;
  }
}

async function isAlive(path: string, holder: Holder): Promise<boolean> {
  if (holder.host !== hostname()) {
    const seenAt = (await stat(path).catch(() => null))?.mtimeMs ?? 0;
    return Date.now() - seenAt < staleMs;
  }
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    // EPERM: it lives, but belongs to somebody else.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return holder.startedAt === null || holder.startedAt === processStart(holder.pid);
}

// Field 22 of /proc/PID/stat; the second field, the command, may itself hold spaces and parentheses.
function processStart(id: number): string | null {
  try {
    const text = readFileSync(`/proc/${id}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}
