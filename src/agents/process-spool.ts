import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { removeTree } from '../store/delete-tree.ts';
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
export interface RunResources {
  readonly runtimeDir: string;
  /** What ends something that is not below the process (a container); may be empty. */
  readonly stopCommand: readonly string[];
}

/** What a worker knows of its agent processes on disk, so that the next start finds those that outlived it. */
export interface ProcessSpool {
  add(pid: number, runId: string, resources?: RunResources): Promise<void>;
  remove(pid: number): Promise<void>;
  /**
   * Kills what an earlier process of this worker left: each spooled process whose id, start time and marks all match, with
   * its group, and everything else that carries the worker's mark, and removes what belonged to them and the runtime
   * directories of its runs. Spares this process and what was added here. Gives what was killed. Agents fill those
   * directories: one that cannot be removed is reported and left, and an entry whose process still runs stays for the
   * next start.
   */
  reap(): Promise<number[]>;
}

/** Settings of {@link createProcessSpool}. */
export interface SpoolOptions {
  /** Variables for the commands that end what a process cannot. Default: none. */
  readonly baseEnv?: Readonly<Record<string, string>>;
  /** Called once for each directory or entry that {@link ProcessSpool.reap} leaves, with the code of the error. */
  onLeft?(path: string, code: string): void;
}

/** How long reap waits for killed processes to be gone. */
const maxExitMs = 2_000;
const pollMs = 10;

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

/** A spool in a directory that only this worker uses. */
export function createProcessSpool(
  directory: string,
  workerId: string,
  { baseEnv = {}, onLeft = () => undefined }: SpoolOptions = {},
): ProcessSpool {
  const live = new Map<number, { readonly runId: string; readonly runtimeDir: string | undefined }>();
  const fileOf = (pid: number) => join(directory, `${pid}.json`);

  const isLeftOver = ({ pid, startedAt, runId }: SpooledProcess) =>
    startedAt !== null &&
    processStart(pid) === startedAt &&
    // Where marks cannot be read, id and start time have to do.
    hasEnvironment(pid, { [workerMark]: workerId, [runMark]: runId }) !== false;

  return {
    async add(pid, runId, resources) {
      live.set(pid, { runId, runtimeDir: resources?.runtimeDir });
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const entry: SpooledProcess = { pid, startedAt: processStart(pid), runId, ...resources };
      await writeFile(fileOf(pid), JSON.stringify(entry), { mode: 0o600 });
    },
    async remove(pid) {
      live.delete(pid);
      await rm(fileOf(pid), { force: true });
    },
    async reap() {
      const names = await readdir(directory).catch(() => [] as string[]);
      const killed = new Set<number>();
      const leave = (path: string) => (error: unknown) =>
        onLeft(path, (error as NodeJS.ErrnoException).code ?? 'error');
      const spooled: { readonly path: string; readonly entry: SpooledProcess | null }[] = [];
      for (const name of names) {
        const path = join(directory, name);
        const entry = await readEntry(path);
        if (entry && live.has(entry.pid)) continue;
        spooled.push({ path, entry });
        if (entry && entry.pid !== process.pid && isLeftOver(entry)) {
          // A service that an agent started stands in that agent's group.
          if (!isOwnGroup(entry.pid)) signalProcess(-entry.pid, 'SIGKILL');
          signalProcess(entry.pid, 'SIGKILL');
          killed.add(entry.pid);
        }
        if (entry?.stopCommand) await runStopCommand(entry.stopCommand, baseEnv);
      }
      const current = [...live.values()].map(({ runId }) => ({ [runMark]: runId }));
      for (const pid of await killByEnvironment({ [workerMark]: workerId }, current)) killed.add(pid);
      const deadline = Date.now() + maxExitMs;
      for (const { path, entry } of spooled) {
        const runs = () => entry !== null && entry.pid !== process.pid && isLeftOver(entry);
        while (runs() && Date.now() < deadline) await wait(pollMs);
        if (entry?.runtimeDir !== undefined) await removeTree(entry.runtimeDir).catch(leave(entry.runtimeDir));
        if (runs()) onLeft(path, 'EBUSY');
        else await rm(path, { force: true }).catch(leave(path));
      }
      const spared = new Set([...live.values()].map(({ runtimeDir }) => runtimeDir));
      const tried = new Set(spooled.map(({ entry }) => entry?.runtimeDir));
      for (const path of await runtimeDirsOf(workerId))
        if (!spared.has(path) && !tried.has(path)) await removeTree(path).catch(leave(path));
      return [...killed];
    },
  };
}

async function runtimeDirsOf(workerId: string): Promise<string[]> {
  const prefix = runtimePrefix(workerId);
  const root = dirname(prefix);
  const names = await readdir(root).catch(() => [] as string[]);
  return names.filter((name) => name.startsWith(basename(prefix))).map((name) => join(root, name));
}

async function readEntry(path: string): Promise<SpooledProcess | null> {
  try {
    const entry = JSON.parse(await readFile(path, 'utf8')) as SpooledProcess;
    return Number.isInteger(entry.pid) && entry.pid > 1 && typeof entry.runId === 'string' ? entry : null;
  } catch {
    return null;
  }
}
