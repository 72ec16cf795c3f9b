import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isAlive, ownProcess, type ProcessName } from './process-name.ts';
import { refuseDirectory } from './refuse-directory.ts';

/** A locked directory. */
export interface DataDirLock {
  /** Releases the directory; safe to call twice. */
  release(): Promise<void>;
}

/** Times and callbacks of the lock; tests of the heartbeat use shorter times. */
export interface LockOptions {
  /** Interval at which the holder touches the file, for processes that cannot see it. */
  readonly heartbeatMs: number;
  /** Age of the heartbeat after which a holder that cannot be seen counts as dead. */
  readonly staleMs: number;
  /** Called when the holder cannot be seen, so that its heartbeat must be watched for a while. */
  readonly onWait: (sentence: string) => void;
  /** Advice for the operator when a live process has the directory. */
  readonly lockedMessage: string;
}

const defaults: LockOptions = {
  heartbeatMs: 5_000,
  staleMs: 30_000,
  onWait: () => undefined,
  lockedMessage:
    'Stop it, or set DATA_DIR to another directory. If this directory is a copy of the one of that process, delete the file "lock" in it.',
};

/** Removing a dead holder's lock takes milliseconds: a process that has needed this long has died. */
const turnMs = 10_000;
const turnPollMs = 20;

/**
 * Locks a directory for this process. Throws one sentence if a live process has it. Takes over the lock of a dead
 * process (after `kill -9`): at once on the same machine, where the process id and start time identify it; from another
 * machine or container, after its heartbeat has not changed for 30 seconds, for which this waits.
 */
export async function lockDataDir(dataDir: string, overrides: Partial<LockOptions> = {}): Promise<DataDirLock> {
  const options = { ...defaults, ...overrides };
  const path = join(dataDir, 'lock');
  const own = JSON.stringify(ownProcess());
  await mkdir(dataDir, { recursive: true, mode: 0o700 }).catch((error) => refuseDirectory('DATA_DIR', dataDir, error));
  while (!(await create(path, own).catch((error) => refuseDirectory('DATA_DIR', dataDir, error)))) {
    const found = await readText(path);
    if (found === null) continue;
    const holder = parseHolder(found);
    if (await isHolderAlive(path, holder, options))
      throw new Error(`${inUse(dataDir, holder)} ${options.lockedMessage}`);
    await removeStale(path, found);
  }
  const timer = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => undefined);
  }, options.heartbeatMs).unref();
  let isReleased = false;
  return {
    async release() {
      if (isReleased) return;
      isReleased = true;
      clearInterval(timer);
      await removeOwn(path, own);
    },
  };
}

function inUse(dataDir: string, holder: ProcessName | null): string {
  const holderName =
    holder === null
      ? 'another process'
      : `another Switchyard process (pid ${holder.pid} on ${holder.host.split(' ')[0]})`;
  return `The data directory ${dataDir} is in use by ${holderName}.`;
}

/** Returns false if the file exists. Its content appears together with its name, so no process reads half a lock. */
async function create(path: string, text: string): Promise<boolean> {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  await writeFile(draft, text, { mode: 0o600 });
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    // A file system without hard links (some network and container mounts).
    return createExclusively(path, text);
  } finally {
    await rm(draft, { force: true });
  }
}

async function createExclusively(path: string, text: string): Promise<boolean> {
  try {
    await writeFile(path, text, { mode: 0o600, flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Removes the lock of a dead holder. Of several processes that found it dead only one does so, under a second lock:
 * otherwise a slow one would remove the new lock of a fast one.
 */
async function removeStale(path: string, text: string): Promise<void> {
  const turn = `${path}.takeover`;
  if (!(await createExclusively(turn, ''))) {
    const age = Date.now() - (await touchedAt(turn));
    if (age > turnMs) await rm(turn, { force: true });
    await delay(turnPollMs);
    return;
  }
  try {
    await removeOwn(path, text);
  } finally {
    await rm(turn, { force: true });
  }
}

async function removeOwn(path: string, text: string): Promise<void> {
  if ((await readText(path)) === text) await rm(path, { force: true });
}

/** Returns null if there is no such file. */
async function readText(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Returns null for an incomplete file: its writer has died, or is still writing. */
function parseHolder(text: string): ProcessName | null {
  try {
    const { pid: id, startedAt, host } = JSON.parse(text) as Partial<ProcessName>;
    return typeof id === 'number' && typeof host === 'string' ? { pid: id, startedAt: startedAt ?? null, host } : null;
  } catch {
    return null;
  }
}

async function isHolderAlive(path: string, holder: ProcessName | null, options: LockOptions): Promise<boolean> {
  if (holder?.host === ownProcess().host) return isAlive(holder);
  const { heartbeatMs, staleMs, onWait } = options;
  onWait('The data directory is locked by another machine or container. Checking if that process is still running.');
  // Only changes count, since the clocks of two machines may differ: an old file still gets the time of two heartbeats.
  const first = await touchedAt(path);
  const age = Math.min(Math.max(Date.now() - first, 0), staleMs - 2 * heartbeatMs);
  const deadline = performance.now() + staleMs - age;
  while (performance.now() < deadline) {
    await delay(heartbeatMs / 10);
    if ((await touchedAt(path)) !== first) return true;
  }
  return false;
}

async function touchedAt(path: string): Promise<number> {
  return (await stat(path).catch(() => null))?.mtimeMs ?? 0;
}
