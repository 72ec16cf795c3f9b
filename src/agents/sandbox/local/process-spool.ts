import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { removeTree } from '../../../store/delete-tree.ts';
import { hasEnvironment, isOwnGroup, killByEnvironment, processStart, signalProcess } from '../process-identity.ts';

/** Environment variables that mark an agent's process and all its descendants. */
export const workerMark = 'SWITCHYARD_WORKER';
export const runMark = 'SWITCHYARD_RUN';

/**
 * The prefix of the runtime directories of a worker's runs. The next start finds by it what a killed worker left, even
 * without a record. Not in the data directory: a socket's path has at most 107 bytes.
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

/** The resources to remove after a process has ended. */
export interface RunResources {
  readonly runtimeDir: string;
  /** The command that ends something outside the process (a container); may be empty. */
  readonly stopCommand: readonly string[];
}

/** A worker's records on disk of its agent processes, so that the next start finds those that outlived it. */
export interface ProcessSpool {
  add(pid: number, runId: string, resources?: RunResources): Promise<void>;
  remove(pid: number): Promise<void>;
  /**
   * Cleans up after an earlier process of this worker. Kills each recorded process whose id, start time and marks all
   * match, with its group, and every other process with the worker's mark. Removes their resources and the runtime
   * directories of the worker's runs. Spares this process and everything added here. Returns the killed processes.
   * Agents fill those directories, so one that cannot be removed is reported and left. A record whose process still
   * runs stays for the next start.
   */
  reap(): Promise<number[]>;
}

/** Settings of {@link createProcessSpool}. */
export interface SpoolOptions {
  /** Variables for the commands that end resources outside the process. Default: none. */
  readonly baseEnv?: Readonly<Record<string, string>>;
  /** Called once for each directory or record that {@link ProcessSpool.reap} leaves, with the code of the error. */
  onLeft?(path: string, code: string): void;
}

/** The time that reap waits for killed processes to end. */
const maxExitMs = 2_000;
const pollMs = 10;

/** The timeout of the operator's stop command. */
const stopCommandMs = 20_000;

/** Runs the stop command of a profile. Never rejects; failures are ignored. */
export function runStopCommand(command: readonly string[], env: Readonly<Record<string, string>>): Promise<void> {
  const [program, ...args] = command;
  if (program === undefined) return Promise.resolve();
  return new Promise((resolve) => {
    execFile(program, args, { env, timeout: stopCommandMs, killSignal: 'SIGKILL' }, () => resolve());
  });
}

/** Creates a spool in a directory that only this worker uses. */
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
    // If marks cannot be read, the id and the start time must suffice.
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
          // A service that an agent started is in that agent's group.
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
