import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { hasEnvironment, isOwnGroup, killByEnvironment, processStart, signalProcess } from './process-identity.ts';

/** The variables that mark an agent's process and all that it starts. */
export const workerMark = 'SWITCHYARD_WORKER';
export const runMark = 'SWITCHYARD_RUN';

/**
 * How the runtime directories of a worker's runs begin: the next start finds by it what a killed worker left, also where
 * nothing was noted. Not in the data directory: a socket's path may have 107 bytes at most.
 */
export function runtimePrefix(workerId: string): string {
  return join(tmpdir(), `sy-${workerId}-`);
}

interface SpooledProcess {
  pid: number;
  startedAt: string | null;
  runId: string;
  runtimeDir?: string;
  stopCommand?: readonly string[];
}

/** What goes with a process when it is gone. */
export interface Belongings {
  readonly runtimeDir: string;
  /** What ends something that is not below the process (a container); may be empty. */
  readonly stopCommand: readonly string[];
}

/** What a worker knows of its agent processes on disk, so that the next start finds those that outlived it. */
export interface ProcessSpool {
  add(pid: number, runId: string, belongings?: Belongings): Promise<void>;
  remove(pid: number): Promise<void>;
  /**
   * Kills what an earlier process of this worker left: each spooled process whose id, start time and marks all match, with
   * its group, and everything else that carries the worker's mark, and removes what belonged to them and the runtime
   * directories of its runs. Spares this process and what was added here. Gives what was killed.
   */
  reap(): Promise<number[]>;
}

/** How long a command of the operator's may take to end something. */
const stopCommandMs = 20_000;

/** Runs what a profile names for the end of its agents. Never rejects: what it leaves, it leaves. */
export function runStopCommand(command: readonly string[], env: Readonly<Record<string, string>>): Promise<void> {
  const [program, ...args] = command;
  if (program === undefined) return Promise.resolve();
  return new Promise((resolve) => {
    execFile(program, args, { env, timeout: stopCommandMs, killSignal: 'SIGKILL' }, () => resolve());
  });
}

/** A spool in a directory that only this worker uses; `baseEnv` for the commands that end what a process cannot. */
export function createProcessSpool(
  directory: string,
  workerId: string,
  baseEnv: Readonly<Record<string, string>> = {},
): ProcessSpool {
  const live = new Map<number, { readonly runId: string; readonly runtimeDir: string | undefined }>();
  const fileOf = (pid: number) => join(directory, `${pid}.json`);

  const isLeftOver = ({ pid, startedAt, runId }: SpooledProcess) =>
    startedAt !== null &&
    processStart(pid) === startedAt &&
    // Where marks cannot be read, id and start time have to do.
    hasEnvironment(pid, { [workerMark]: workerId, [runMark]: runId }) !== false;

  return {
    async add(pid, runId, belongings) {
      live.set(pid, { runId, runtimeDir: belongings?.runtimeDir });
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const entry: SpooledProcess = { pid, startedAt: processStart(pid), runId, ...belongings };
      await writeFile(fileOf(pid), JSON.stringify(entry), { mode: 0o600 });
    },
    async remove(pid) {
      live.delete(pid);
      await rm(fileOf(pid), { force: true });
    },
    async reap() {
      const names = await readdir(directory).catch(() => [] as string[]);
      const killed = new Set<number>();
      for (const name of names) {
        const entry = await readEntry(join(directory, name));
        if (entry && live.has(entry.pid)) continue;
        if (entry && entry.pid !== process.pid && isLeftOver(entry)) {
          // A service that an agent started stands in that agent's group.
          if (!isOwnGroup(entry.pid)) signalProcess(-entry.pid, 'SIGKILL');
          signalProcess(entry.pid, 'SIGKILL');
          killed.add(entry.pid);
        }
        if (entry?.stopCommand) await runStopCommand(entry.stopCommand, baseEnv);
        if (entry?.runtimeDir !== undefined) await rm(entry.runtimeDir, { recursive: true, force: true });
        await rm(join(directory, name), { force: true });
      }
      const current = [...live.values()].map(({ runId }) => ({ [runMark]: runId }));
      for (const pid of await killByEnvironment({ [workerMark]: workerId }, current)) killed.add(pid);
      await removeRuntimeDirs(workerId, new Set([...live.values()].map(({ runtimeDir }) => runtimeDir)));
      return [...killed];
    },
  };
}

async function removeRuntimeDirs(workerId: string, spared: ReadonlySet<string | undefined>): Promise<void> {
  const prefix = runtimePrefix(workerId);
  const root = dirname(prefix);
  const names = await readdir(root).catch(() => [] as string[]);
  const left = names.filter((name) => name.startsWith(basename(prefix))).map((name) => join(root, name));
  // In a directory that all users share, one may have another owner: it is none of ours then.
  for (const path of left)
    if (!spared.has(path)) await rm(path, { recursive: true, force: true }).catch(() => undefined);
}

async function readEntry(path: string): Promise<SpooledProcess | null> {
  try {
    const entry = JSON.parse(await readFile(path, 'utf8')) as SpooledProcess;
    return Number.isInteger(entry.pid) && entry.pid > 1 && typeof entry.runId === 'string' ? entry : null;
  } catch {
    return null;
  }
}
