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

/** The maximum length of stderr kept for the log. */
const stderrTailCharacters = 4_000;
/** The cost of processing one chunk of stderr. */
const stderrChunkMs = 0.2;
/** Masking shorter values would garble ordinary words. */
const minMaskedLength = 6;
/** The time to wait for a killed process. If the kernel cannot end it now, it ends later. */
const killedMs = 5_000;

/** A spawned agent process in its own process group. */
export interface Child {
  readonly pid: number;
  readonly paths: AgentPaths;
  readonly streams: ChildProcessWithoutNullStreams;
  /** Resolves with a description of its end; never rejects. */
  readonly exited: Promise<string>;
  /** The end of its stderr, masked. */
  stderrTail(): string;
  /** Kills it at once for its behaviour. `sentence` then explains its end, instead of its exit code. */
  killWithReason(sentence: string): void;
  /** The sentence of {@link Child.killWithReason}; null if it was not called. */
  killReason(): string | null;
  /** Masks the values of the child's environment variables in a text for users or logs. */
  mask(text: string): string;
  /**
   * Ends stdin, then sends SIGTERM, then SIGKILL to the group, and kills processes that left the group. Never rejects.
   */
  kill(): Promise<void>;
}

/** Settings that all children of this worker share. */
export interface ChildOptions {
  /** The variables of this process that a child may see. */
  readonly baseEnv: Readonly<Record<string, string>>;
  readonly workerId: string;
  readonly spool: ProcessSpool;
  readonly sandbox: Sandbox;
}

/**
 * Spawns the profile's command, and the gateway if the profile needs one. Usage goes to `onUsage` in order, and all of
 * it before the child counts as ended. Rejects with {@link AgentCrash} if the program cannot start; nothing is left
 * running then.
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
    // A driver must know the names of all variables. It decides where the agent sees the runtime directory.
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
  /** The values to mask. */
  readonly values: readonly string[];
  /** Called after the process has ended. Never rejects. */
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
    // Keeps more than it returns, so that a value cut at its start is not part of the result.
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
  // Longest first, so that a value that contains another one is masked completely.
  const masked = values.filter((value) => value.length >= minMaskedLength).sort((a, b) => b.length - a.length);
  const mask = (text: string) => storable(masked.reduce((rest, value) => rest.replaceAll(value, '********'), text));
  const isGoneWithin = (ms: number) => within(exited, ms);

  const startedAt = processStart(pid);
  // The end of a sandbox also ends all processes in it.
  const findDescendants = () => (command.isWrapped ? [] : descendantsOf(pid));
  const findOrphans = () =>
    command.isWrapped || startedAt === null ? [] : findInDirectories([launch.workspaceDir, launch.homeDir], startedAt);
  const kill = async () => {
    const { stdinMs, termMs } = launch.profile.stopGraces;
    // Read first: parent relations are visible only while all processes still run.
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
    // Also after a normal end: processes that the agent started may still run, inside or outside its group.
    signalProcess(-pid, 'SIGKILL');
    await killProcesses(descendants);
    await killProcesses(findOrphans());
    await end();
    // Processes that were not found may hold the pipes open; they must not keep this process alive.
    for (const stream of [streams.stdin, streams.stdout, streams.stderr]) stream.destroy();
    // A process that is still there stays recorded, for the next start to clean up.
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
  // The exit reports a write to an agent that has ended; an unhandled error here would end this process.
  for (const stream of [streams.stdin, streams.stdout, streams.stderr]) stream.on('error', () => undefined);
  await new Promise<void>((resolve, reject) => {
    streams.once('spawn', resolve);
    streams.once('error', reject);
  });
  return streams;
}

// The sandbox's first process would end at once, and the agent with it, so the signal goes to the processes below it.
function terminate(pid: number, isWrapped: boolean): void {
  const behind = isWrapped ? childrenOf(pid).flatMap(childrenOf) : [];
  if (behind.length === 0) signalProcess(-pid, 'SIGTERM');
  for (const each of behind) signalProcess(each, 'SIGTERM');
}

// A sandbox reports the signal that ended its content by its own exit code, as shells do.
function howItEnded(code: number | null, signal: NodeJS.Signals | null, isWrapped: boolean): string {
  const names = Object.entries(constants.signals);
  const inner = isWrapped && code !== null ? names.find(([, number]) => code === 128 + number)?.[0] : undefined;
  const cause = signal ?? inner;
  return cause === undefined ? `exit code ${code}` : `signal ${cause}`;
}

// Node's message about an invalid variable quotes its value, which may be a secret, so only the code is used.
function cannotStart(profileId: string, error: unknown): AgentCrash {
  const { code, message } = error as NodeJS.ErrnoException;
  const cause = spawnErrors[code ?? ''] ?? message;
  // A missing program, or one that this user may not run, will still fail in a minute.
  const reason = ['ENOENT', 'EACCES', 'ENOTDIR', 'ENOEXEC', 'ENOSANDBOX'].includes(code ?? '') ? 'program' : 'crash';
  return new AgentCrash(`The agent "${profileId}" cannot be started: ${cause.replace(/\.$/, '')}.`, '', reason);
}

const spawnErrors: Partial<Record<string, string>> = {
  'E2BIG': 'its arguments and variables are longer than this system allows (E2BIG)',
  'ERR_INVALID_ARG_VALUE': 'its command, or a variable that it is given, holds a NUL character',
};

/** Resolves to true if the promise settles in time. The timer does not keep the process alive. */
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
