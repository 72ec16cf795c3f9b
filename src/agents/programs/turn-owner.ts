import { readdir, rename, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { isOwnGroup, processStart, signalProcess } from '../sandbox/process-identity.ts';
import { readJson } from './program-lock.ts';

/** Time without a sign of life after which an installation counts as dead. */
const deadMs = 60_000;
/** Time after which a turn counts as dead that names no process: one that ends is in this state for a moment. */
const unownedMs = 10_000;

const processSchema = z.object({ host: z.string(), pid: z.int().min(1), startedAt: z.string().nullish() });

/** The file in a turn's directory that names the process group of npm. */
export const groupFile = 'npm.json';

/** The file in a turn's directory that names the process of the turn. No two turns have the same name of this file. */
export const ownerFileOf = (token: string): string => `owner-${token}.json`;
const ownerFilePattern = /^owner\b.*\.json$/;

/** Describes a process of this host, so that it can be told from a later one with the same id. */
export const describeProcess = (pid: number): string =>
  JSON.stringify({ host: hostname(), pid, startedAt: processStart(pid) });

/** A turn that was found. */
export interface FoundTurn {
  /** The name of the file of its owner; null: there is none. */
  readonly ownerFile: string | null;
  readonly isDead: boolean;
  readonly isEmpty: boolean;
  /** Tells the directory from the one of a later turn. */
  readonly inode: number;
}

/** Looks for a turn in its directory. Null: there is none. */
export async function findTurn(directory: string): Promise<FoundTurn | null> {
  const [names, { ino: inode } = { ino: 0 }] = await Promise.all([
    readdir(directory).catch(() => null),
    stat(directory).catch(() => undefined),
  ]);
  if (names === null) return null;
  const isEmpty = names.length === 0;
  const ownerFile = names.find((name) => ownerFilePattern.test(name)) ?? null;
  const path = join(directory, ownerFile ?? '');
  const beat = await stat(path).catch(() => null);
  if (beat === null) return { ownerFile, isEmpty, inode, isDead: false };
  const ageMs = Date.now() - beat.mtimeMs;
  const owner = ownerFile === null ? null : await readProcess(path);
  if (owner === null) return { ownerFile, isEmpty, inode, isDead: ageMs > unownedMs };
  return { ownerFile, isEmpty, inode, isDead: ageMs > deadMs || (owner.host === hostname() && !isRunning(owner)) };
}

/**
 * Ends a turn for one process alone: returns true for the first one that calls it for the turn of this owner. It has to
 * move the directory away then.
 */
export async function claimTurn(directory: string, ownerFile: string): Promise<boolean> {
  const claimed = ownerFile.replace(/^owner/, 'ended').replace(/\.json$/, '');
  return rename(join(directory, ownerFile), join(directory, claimed)).then(
    () => true,
    () => false,
  );
}

/** Kills the npm that a dead turn has left, and waits for its end. Does nothing if its id belongs to another process now. */
export async function killLeftGroup(directory: string): Promise<void> {
  const leader = await readProcess(join(directory, groupFile));
  // The negative of 1 would name all processes.
  if (leader?.startedAt == null || leader.pid === 1 || leader.host !== hostname() || isOwnGroup(leader.pid)) return;
  const isThere = () => processStart(leader.pid) === leader.startedAt;
  if (!isThere()) return;
  signalProcess(-leader.pid, 'SIGKILL');
  for (let rounds = 0; rounds < 100 && isThere(); rounds += 1) await wait(20);
}

async function readProcess(path: string): Promise<z.output<typeof processSchema> | null> {
  return processSchema.safeParse(await readJson(path).catch(() => null)).data ?? null;
}

function isRunning({ pid, startedAt }: z.output<typeof processSchema>): boolean {
  const start = processStart(pid);
  if (start !== null) return startedAt == null || start === startedAt;
  // Some systems hide the processes of other users.
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
