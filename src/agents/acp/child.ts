import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { constants } from 'node:os';
import { AgentCrash, type AgentLaunch, type AgentPaths, type AgentUpdate } from '../agent.ts';
import { descendantsOf, findInDirectories, killProcesses } from '../orphan-processes.ts';
import { childrenOf, killByEnvironment, processStart, signalProcess } from '../process-identity.ts';
import { type ProcessSpool, runMark, runStopCommand, workerMark } from '../process-spool.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { SandboxCommand } from '../sandbox/sandbox-command.ts';
import { spawnAgent } from '../sandbox/spawn-agent.ts';
import { agentEnvironment, openAgentGateway, runtimeVariables } from './environment.ts';
import { createPace } from './pace.ts';
import { storable } from './text-limits.ts';

/** How much of stderr is kept for the log. */
const stderrTailCharacters = 4_000;
/** What it costs to take in a piece of it. */
const stderrChunkMs = 0.2;
/** Values shorter than this would blot out ordinary words. */
const minMaskedLength = 6;
/** How long a killed process is waited for. One that the kernel cannot end just now ends by itself later. */
const killedMs = 5_000;

/** A spawned agent process, in a group of its own. */
export interface Child {
  readonly pid: number;
  readonly paths: AgentPaths;
  readonly streams: ChildProcessWithoutNullStreams;
  /** Resolves with how it ended; never rejects. */
  readonly exited: Promise<string>;
  /** The end of what it wrote to stderr, masked. */
  stderrTail(): string;
  /** Kills it at once for what it did, in a sentence: that, and not how it ended, is why it is gone. */
  killWithReason(sentence: string): void;
  /** The sentence it was killed for; null: it was not. */
  killReason(): string | null;
  /** Text for users and logs, without the values of the variables that the child was given. */
  mask(text: string): string;
  /** End of stdin, SIGTERM, SIGKILL of the group, and a sweep for what left the group. Never rejects. */
  kill(): Promise<void>;
}

/** What every child of this worker shares. */
export interface ChildOptions {
  /** The variables of this process that a child may see. */
  readonly baseEnv: Readonly<Record<string, string>>;
  readonly workerId: string;
  readonly spool: ProcessSpool;
  readonly sandbox: Sandbox;
}

/**
 * Spawns the profile's command, with the gateway that it asks for, whose counts go to `onUsage`, one after the
 * other, each before the child counts as ended. Rejects with {@link AgentCrash} when the program cannot be started; nothing is left then.
 */
export async function spawnChild(
  launch: AgentLaunch,
  options: ChildOptions,
  onUsage: (usage: AgentUpdate & { type: 'usage' }) => Promise<void>,
): Promise<Child> {
  let reported: Promise<void> = Promise.resolve();
  const reportUsage = (usage: AgentUpdate & { type: 'usage' }) => {
    reported = onUsage(usage);
  };
  const agentGateway = await openAgentGateway(launch, reportUsage).catch((error: unknown) => {
    throw cannotStart(launch.profile.id, error);
  });
  try {
    const env = agentEnvironment(launch, options.baseEnv, agentGateway);
    // A driver has to know the names of all variables, and says where the agent sees the runtime directory.
    const command = await options.sandbox.wrap({
      launch,
      env: { ...runtimeVariables(launch, launch.runtimeDir), ...env },
      gatewaySocket: agentGateway?.socketPath ?? null,
    });
    const marks = { [workerMark]: options.workerId, [runMark]: launch.runId };
    const files = runtimeVariables(launch, command.paths.runtime);
    const childEnv = { ...files, ...env, ...command.env, HOME: command.paths.home, ...marks };
    const streams = await spawnCommand(launch, command, childEnv);
    const end = async () => {
      await killByEnvironment(marks);
      await runStopCommand(command.stopCommand, options.baseEnv);
      await agentGateway?.gateway.close();
      await reported;
    };
    const values = [
      ...Object.values(launch.profile.env),
      ...Object.values(launch.env),
      ...(agentGateway ? [agentGateway.gateway.key] : []),
    ];
    return await superviseChild(launch, command, streams, { spool: options.spool, values, end });
  } catch (error) {
    await agentGateway?.gateway.close();
    throw error instanceof AgentCrash ? error : cannotStart(launch.profile.id, error);
  }
}

interface Supervision {
  readonly spool: ProcessSpool;
  /** What is blotted out. */
  readonly values: readonly string[];
  /** After the process has gone. Never rejects. */
  end(): Promise<void>;
}

async function superviseChild(
  launch: AgentLaunch,
  command: SandboxCommand,
  streams: ChildProcessWithoutNullStreams,
  { spool, values, end }: Supervision,
): Promise<Child> {
  const pid = streams.pid as number;
  let tail = '';
  const pace = createPace();
  streams.stderr.setEncoding('utf8').on('data', (text: string) => {
    // More than is given, so that a value that is cut at its beginning is not in it.
    tail = (tail + text).slice(-2 * stderrTailCharacters);
    const rest = pace.spend(stderrChunkMs);
    if (rest === null) return;
    streams.stderr.pause();
    void rest.then(() => streams.stderr.resume());
  });
  const exited = new Promise<string>((resolve) => {
    streams.once('error', (error) => resolve(error.message));
    streams.once('exit', (code, signal) => resolve(howItEnded(code, signal, command.isWrapped)));
  });
  // Longest first, so that one that contains another is blotted out whole.
  const masked = values.filter((value) => value.length >= minMaskedLength).sort((a, b) => b.length - a.length);
  const mask = (text: string) => storable(masked.reduce((rest, value) => rest.replaceAll(value, '********'), text));
  const isGoneWithin = (ms: number) => within(exited, ms);

  const startedAt = processStart(pid);
  // A wall takes all that is behind it along.
  const findDescendants = () => (command.isWrapped ? [] : descendantsOf(pid));
  const findOrphans = () =>
    command.isWrapped || startedAt === null ? [] : findInDirectories([launch.workspaceDir, launch.homeDir], startedAt);
  const kill = async () => {
    const { stdinMs, termMs } = launch.profile.stopGraces;
    // Who has whom for a parent can only be seen while all still run.
    const descendants = findDescendants();
    streams.stdin.end();
    if (!(await isGoneWithin(stdinMs))) {
      descendants.push(...findDescendants());
      terminate(pid, command.isWrapped);
      if (!(await isGoneWithin(termMs))) {
        descendants.push(...findDescendants());
        signalProcess(-pid, 'SIGKILL');
      }
    }
    const isGone = await isGoneWithin(killedMs);
    // Also after an orderly end: what the agent started may still run, in its group or out of it.
    signalProcess(-pid, 'SIGKILL');
    await killProcesses(descendants);
    await killProcesses(findOrphans());
    await end();
    // What could not be found may hold the pipes; they must not hold this process.
    for (const stream of [streams.stdin, streams.stdout, streams.stderr]) stream.destroy();
    // What is not gone stays noted, for the next start to look at.
    if (isGone) await spool.remove(pid).catch(() => undefined);
  };
  try {
    await spool.add(pid, launch.runId, { runtimeDir: launch.runtimeDir, stopCommand: command.stopCommand });
  } catch (error) {
    await kill();
    throw cannotStart(launch.profile.id, error);
  }
  const { paths } = command;
  let killReason: string | null = null;
  const killWithReason = (sentence: string) => {
    killReason ??= sentence;
    signalProcess(-pid, 'SIGKILL');
  };
  const stderrTail = () => mask(tail).slice(-stderrTailCharacters);
  return { pid, paths, streams, exited, stderrTail, killWithReason, killReason: () => killReason, mask, kill };
}

async function spawnCommand(
  launch: AgentLaunch,
  command: SandboxCommand,
  env: Record<string, string>,
): Promise<ChildProcessWithoutNullStreams> {
  const streams = spawnAgent(command, { cwd: launch.workspaceDir, env });
  // A write to an agent that has gone is reported by its exit; an unheard error here would end this process.
  for (const stream of [streams.stdin, streams.stdout, streams.stderr]) stream.on('error', () => undefined);
  await new Promise<void>((resolve, reject) => {
    streams.once('spawn', resolve);
    streams.once('error', reject);
  });
  return streams;
}

// A wall would fall at once, and the agent with it: the signal is meant for what is behind its first process.
function terminate(pid: number, isWrapped: boolean): void {
  const behind = isWrapped ? childrenOf(pid).flatMap(childrenOf) : [];
  if (behind.length === 0) signalProcess(-pid, 'SIGTERM');
  for (const each of behind) signalProcess(each, 'SIGTERM');
}

// A wall says by its own exit code, as shells do, which signal ended what was behind it.
function howItEnded(code: number | null, signal: NodeJS.Signals | null, isWrapped: boolean): string {
  const names = Object.entries(constants.signals);
  const inner = isWrapped && code !== null ? names.find(([, number]) => code === 128 + number)?.[0] : undefined;
  const cause = signal ?? inner;
  return cause === undefined ? `exit code ${code}` : `signal ${cause}`;
}

// Node's message about a bad variable quotes its value, which may be a secret: only its code is passed on.
function cannotStart(profileId: string, error: unknown): AgentCrash {
  const { code, message } = error as NodeJS.ErrnoException;
  const cause = spawnErrors[code ?? ''] ?? message;
  // A program that is missing, or that this user may not run, is still so in a minute.
  const reason = ['ENOENT', 'EACCES', 'ENOTDIR', 'ENOEXEC', 'ENOSANDBOX'].includes(code ?? '') ? 'program' : 'crash';
  return new AgentCrash(`The agent "${profileId}" cannot be started: ${cause.replace(/\.$/, '')}.`, '', reason);
}

const spawnErrors: Partial<Record<string, string>> = {
  'E2BIG': 'its arguments and variables are longer than this system allows (E2BIG)',
  'ERR_INVALID_ARG_VALUE': 'its command, or a variable that it is given, holds a NUL character',
};

/** Whether something settles in time. The timer does not keep the process alive. */
export function within(promise: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ms).unref();
    const settled = () => {
      clearTimeout(timer);
      resolve(true);
    };
    promise.then(settled, settled);
  });
}
