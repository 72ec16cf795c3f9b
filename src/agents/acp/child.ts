import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { AgentCrash, type AgentLaunch, type AgentPaths } from '../agent.ts';
import { killByEnvironment, signalProcess } from '../process-identity.ts';
import { type ProcessSpool, runMark, workerMark } from '../process-spool.ts';
import { storable } from './updates.ts';

/** How much of stderr is kept for the log. */
const stderrTailCharacters = 4_000;
/** Values shorter than this would blot out ordinary words. */
const shortestMasked = 6;
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
}

/** Spawns the profile's command. Rejects with {@link AgentCrash} when the program cannot be started; nothing is left then. */
export async function spawnChild(launch: AgentLaunch, options: ChildOptions): Promise<Child> {
  const { profile } = launch;
  const marks = { [workerMark]: options.workerId, [runMark]: launch.runId };
  const streams = start(launch, { ...options.baseEnv, ...profile.env, ...launch.env, HOME: launch.homeDir, ...marks });
  let tail = '';
  streams.stderr.setEncoding('utf8').on('data', (text: string) => {
    // More than is given, so that a value that is cut at its beginning is not in it.
    tail = (tail + text).slice(-2 * stderrTailCharacters);
  });
  // A write to an agent that has gone is reported by its exit; an unheard error here would end this process.
  for (const stream of [streams.stdin, streams.stdout, streams.stderr]) stream.on('error', () => undefined);
  const spawned = new Promise<void>((resolve, reject) => {
    streams.once('spawn', resolve);
    streams.once('error', (error) => reject(cannotStart(profile.id, error)));
  });
  const exited = new Promise<string>((resolve) => {
    streams.once('error', (error) => resolve(error.message));
    streams.once('exit', (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`));
  });
  await spawned;
  const pid = streams.pid as number;
  const values = [...Object.values(profile.env), ...Object.values(launch.env)].filter(
    (v) => v.length >= shortestMasked,
  );
  const mask = (text: string) => storable(values.reduce((masked, value) => masked.replaceAll(value, '********'), text));
  const isGoneWithin = (ms: number) => within(exited, ms);

  const kill = async () => {
    const { stdinMs, termMs } = profile.stopGraces;
    streams.stdin.end();
    if (!(await isGoneWithin(stdinMs))) {
      signalProcess(-pid, 'SIGTERM');
      if (!(await isGoneWithin(termMs))) signalProcess(-pid, 'SIGKILL');
    }
    const isGone = await isGoneWithin(killedMs);
    // Also after an orderly end: what the agent started may still run, in its group or out of it.
    signalProcess(-pid, 'SIGKILL');
    await killByEnvironment(marks);
    // What could not be found may hold the pipes; they must not hold this process.
    for (const stream of [streams.stdin, streams.stdout, streams.stderr]) stream.destroy();
    // What is not gone stays noted, for the next start to look at.
    if (isGone) await options.spool.remove(pid).catch(() => undefined);
  };
  try {
    await options.spool.add(pid, launch.runId);
  } catch (error) {
    await kill();
    throw cannotStart(profile.id, error);
  }
  const paths = { workspace: launch.workspaceDir, home: launch.homeDir, runtime: launch.runtimeDir };
  return { pid, paths, streams, exited, stderrTail: () => mask(tail).slice(-stderrTailCharacters), mask, kill };
}

function start(launch: AgentLaunch, env: Record<string, string>): ChildProcessWithoutNullStreams {
  const [program = '', ...args] = launch.profile.command;
  try {
    // Nothing of this process but what is named: its own environment holds keys and addresses.
    return spawn(program, args, { cwd: launch.workspaceDir, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  } catch (error) {
    throw cannotStart(launch.profile.id, error);
  }
}

// Node's message about a bad variable quotes its value, which may be a secret: only its code is passed on.
function cannotStart(profileId: string, error: unknown): AgentCrash {
  const { code, message } = error as NodeJS.ErrnoException;
  const cause = spawnErrors[code ?? ''] ?? message;
  // A program that is missing, or that this user may not run, is still so in a minute.
  const reason = ['ENOENT', 'EACCES', 'ENOTDIR', 'ENOEXEC'].includes(code ?? '') ? 'program' : 'crash';
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
