import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { constants } from 'node:os';
import { PassThrough } from 'node:stream';
import { within } from '../../../common/within.ts';
import type { Period, ProcessExit, SandboxProcess } from '../driver.ts';
import { childrenOf, killByEnvironment, processStart, signalProcess } from '../process-identity.ts';
import type { AgentPaths } from '../settings.ts';
import type { LocalMachine } from './local-machine.ts';
import {
  commandsOf,
  descendantsOf,
  findInDirectories,
  killProcesses,
  type ProcessIdentity,
} from './orphan-processes.ts';
import { runMark, runStopCommand, workerMark } from './process-spool.ts';
import type { SandboxCommand } from './sandbox-command.ts';
import { spawnAgent } from './spawn-agent.ts';

/** The time to wait for a killed process. If the kernel cannot end it now, it ends later. */
const killedMs = 5_000;

/** A process of this machine in its own process group. */
export interface LocalProcess extends SandboxProcess {
  readonly pid: number;
}

/** A process to start on this machine. */
export interface LocalStart {
  readonly command: SandboxCommand;
  readonly env: Readonly<Record<string, string>>;
  /** The directories on the host; the command starts in the workspace. */
  readonly directories: AgentPaths;
  readonly runId: string;
}

/** Starts a process that the next start of this worker finds if it outlives this one. */
export async function startLocalProcess(machine: LocalMachine, start: LocalStart): Promise<LocalProcess> {
  const { command, directories, runId } = start;
  const marks = { [workerMark]: machine.workerId, [runMark]: runId };
  const child = await spawned(command, directories.workspace, { ...start.env, ...marks });
  const pid = child.pid as number;
  // When a process ends, Node discards the output that nobody reads yet: the reader may come later.
  const [stdout, stderr] = [child.stdout.pipe(new PassThrough()), child.stderr.pipe(new PassThrough())];
  for (const stream of [stdout, stderr]) stream.on('error', () => undefined);
  const exited = new Promise<ProcessExit>((resolve) => {
    child.once('error', (error) => resolve({ code: null, signal: null, reason: error.message }));
    child.once('exit', (code, signal) => resolve(exitOf(code, signal, command.isWrapped)));
  });
  const startedAt = processStart(pid);
  // The end of a sandbox also ends all processes in it.
  const findDescendants = () => (command.isWrapped ? [] : descendantsOf(pid));
  const findOrphans = () =>
    command.isWrapped || startedAt === null
      ? []
      : findInDirectories([directories.workspace, directories.home], startedAt);
  // Parent relations are visible only while all processes still run: they are read before each signal.
  const descendants: ProcessIdentity[] = [];
  const stop: SandboxProcess['stop'] = async ({ stdinMs, termMs }) => {
    descendants.push(...findDescendants());
    child.stdin.end();
    if (!(await within(exited, stdinMs))) {
      descendants.push(...findDescendants());
      terminate(pid, command.isWrapped);
      if (!(await within(exited, termMs))) {
        descendants.push(...findDescendants());
        signalProcess(-pid, 'SIGKILL');
      }
    }
    const isGone = await within(exited, killedMs);
    // Also after a normal end: processes that the agent started may still run, inside or outside its group.
    signalProcess(-pid, 'SIGKILL');
    await killProcesses(descendants);
    await killProcesses(findOrphans());
    await killByEnvironment(marks);
    await runStopCommand(command.stopCommand, machine.baseEnv);
    // Processes that were not found may hold the pipes open; they must not keep this process alive.
    for (const stream of [child.stdin, child.stdout, child.stderr, stdout, stderr]) stream.destroy();
    // A process that is still there stays recorded, for the next start to clean up.
    if (isGone) await machine.spool.remove(pid).catch(() => undefined);
  };
  try {
    await machine.spool.add(pid, runId, { runtimeDir: directories.runtime, stopCommand: command.stopCommand });
  } catch (error) {
    await stop({ stdinMs: 0, termMs: 0 });
    throw error;
  }
  const kill = () => {
    descendants.push(...findDescendants());
    signalProcess(-pid, 'SIGKILL');
  };
  const killCommands = (startedIn: Period) => killProcesses(commandsOf(pid, startedIn));
  return { pid, stdin: child.stdin, stdout, stderr, exited, kill, killCommands, stop };
}

async function spawned(
  command: SandboxCommand,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<ChildProcessWithoutNullStreams> {
  const child = spawnAgent(command, { cwd, env });
  // The exit reports a write to an agent that has ended; an unhandled error here would end this process.
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', () => undefined);
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  return child;
}

// The sandbox's first process would end at once, and the agent with it, so the signal goes to the processes below it.
function terminate(pid: number, isWrapped: boolean): void {
  const behind = isWrapped ? childrenOf(pid).flatMap(childrenOf) : [];
  if (behind.length === 0) signalProcess(-pid, 'SIGTERM');
  for (const each of behind) signalProcess(each, 'SIGTERM');
}

// A sandbox reports the signal that ended its content by its own exit code, as shells do.
function exitOf(code: number | null, signal: NodeJS.Signals | null, isWrapped: boolean): ProcessExit {
  const names = Object.entries(constants.signals);
  const inner = isWrapped && code !== null ? names.find(([, number]) => code === 128 + number)?.[0] : undefined;
  const cause = signal ?? inner ?? null;
  return { code: cause === null ? code : null, signal: cause, reason: null };
}
